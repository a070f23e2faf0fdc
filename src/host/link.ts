import { pause, untilAborted } from "../async/pause.ts";
import { backoff, type Backoff } from "../async/retried.ts";
import type { BudgetClock } from "../async/budget.ts";
import { SpanlineError, thrownMessage } from "../domain/errors.ts";
import type { AgentProfile } from "../wire/acp/client/agent-profile.ts";
import type { Connection } from "./connection.ts";
import { keepAlive, type KeepAliveRules } from "./keep-alive.ts";
import type { Transport } from "./transports/transport.ts";

/** How a client's connection is. */
export type LinkState =
  | { readonly type: "connected"; readonly agent: AgentProfile; readonly isAgain: boolean }
  | { readonly type: "lost"; readonly error: unknown; readonly retryMs: number }
  /** There will be no other. `error` is why, unless the client closed it. */
  | { readonly type: "closed"; readonly error?: unknown };

export interface LinkOptions {
  readonly connect: () => Transport | Promise<Transport>;
  readonly open: (transport: Transport) => Connection;
  /** Says who we are, and takes up what there was before. A connection counts from then on. */
  readonly greet: (connection: Connection, isAgain: boolean) => Promise<AgentProfile>;
  readonly rules: ReconnectRules;
  /** For transports that may end unnoticed. */
  readonly keepAlive: KeepAliveRules;
  readonly clock: BudgetClock;
  readonly random: () => number;
  readonly onState: (state: LinkState) => void;
}

export interface ReconnectRules extends Backoff {
  /** Connections that may fail one after the other; none for one that is not made again. */
  readonly attempts: number;
}

/** A connection that is kept up. */
export interface Link {
  /** The one that there is, or the next. Rejects when there will be none. */
  current(signal?: AbortSignal): Promise<Greeted>;
  /** The one that there is now, if there is. */
  readonly now: Connection | undefined;
  close(): Promise<void>;
}

export interface Greeted {
  readonly connection: Connection;
  readonly agent: AgentProfile;
}

export function keepLink(options: LinkOptions): Link {
  const { connect, open, greet, rules, clock, onState } = options;
  const closing = new AbortController();
  let next = deferred<Greeted>();
  let connection: Connection | undefined;
  let isLive = false;
  let runs: Promise<void> | undefined;

  /** One connection, to its end. Throws why it did not come to be, or was lost. */
  async function attempt(isAgain: boolean): Promise<{ readonly livedMs: number }> {
    const transport = await connected(connect, closing.signal);
    connection = open(transport);
    const end = connection;
    // Also while sessions are taken up: the agent may fall silent at any time.
    const stopKeeping =
      transport.mayStall === true ? keepAlive(end, clock, options.keepAlive) : () => {};
    try {
      const agent = await greet(connection, isAgain);
      const since = clock.monotonic();
      isLive = true;
      next.resolve({ connection, agent });
      onState({ type: "connected", agent, isAgain });
      await connection.over;
      return { livedMs: clock.monotonic() - since };
    } finally {
      stopKeeping();
      if (isLive) next = deferred();
      isLive = false;
      end.close();
      connection = undefined;
    }
  }

  async function run(): Promise<void> {
    let failed = 0;
    let wasThere = false;
    for (;;) {
      let error: unknown = new SpanlineError("connection_lost", LOST);
      try {
        const { livedMs } = await attempt(wasThere);
        wasThere = true;
        // One that is lost as soon as it is there is as good as none.
        if (livedMs >= rules.longest) failed = 0;
      } catch (thrown) {
        error = thrown;
      }
      if (closing.signal.aborted) return;
      failed += 1;
      if (!wasThere || failed > rules.attempts) return giveUp(error);
      const retryMs = backoff(failed, options.random(), rules);
      onState({ type: "lost", error, retryMs });
      await pause(clock, retryMs, closing.signal);
    }
  }

  function giveUp(error: unknown): void {
    next.reject(error);
    onState({ type: "closed", error });
  }

  function start(): void {
    runs ??= run().catch((error: unknown) => {
      if (!closing.signal.aborted) giveUp(error);
    });
  }

  return {
    current(signal) {
      start();
      return signal === undefined ? next.promise : untilAborted(next.promise, signal);
    },
    get now() {
      return isLive ? connection : undefined;
    },
    async close() {
      if (closing.signal.aborted) return runs;
      closing.abort();
      if (isLive) next = deferred();
      isLive = false;
      next.reject(new SpanlineError("aborted", "The client was closed"));
      connection?.close();
      await runs;
      onState({ type: "closed" });
    },
  };
}

/** Nobody waits for a connection that is not wanted any more. One that comes all the same is closed. */
async function connected(connect: LinkOptions["connect"], signal: AbortSignal): Promise<Transport> {
  const made = (async () => connect())();
  try {
    return await untilAborted(made, signal);
  } catch (error) {
    if (signal.aborted) {
      made.then(
        (late) => late.close(),
        () => {},
      );
    }
    if (signal.aborted || error instanceof SpanlineError) throw error;
    const message = `No connection to the agent could be made: ${thrownMessage(error)}`;
    throw new SpanlineError("connect_failed", message, { cause: error });
  }
}

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

function deferred<Value>(): Deferred<Value> {
  let resolve: Deferred<Value>["resolve"] = () => {};
  let reject: Deferred<Value>["reject"] = () => {};
  const promise = new Promise<Value>((settle, refuse) => {
    resolve = settle;
    reject = refuse;
  });
  // Not everybody who could wait for it does.
  promise.catch(() => {});
  return { promise, resolve, reject };
}

const LOST = "The connection to the agent was lost";
