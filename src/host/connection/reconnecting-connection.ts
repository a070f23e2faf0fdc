import { pause, waitUnlessAborted } from "../../async/pause.ts";
import { computeBackoff, type Backoff } from "../../async/retry.ts";
import type { BudgetClock } from "../../async/budget.ts";
import { SpanlineError, formatThrown } from "../../domain/errors.ts";
import type { AgentProfile } from "../../wire/acp/client/agent-profile.ts";
import type { Connection } from "./agent-connection.ts";
import { startKeepAlive, type KeepAliveRules } from "./keep-alive.ts";
import type { Transport } from "../transports/transport.ts";

/** How a client's connection is. */
export type ConnectionState =
  | { readonly type: "connected"; readonly agent: AgentProfile; readonly isReconnect: boolean }
  | { readonly type: "lost"; readonly error: unknown; readonly retryMs: number }
  /** There will be no other. `error` is why, unless the client closed it. */
  | { readonly type: "closed"; readonly error?: unknown };

export interface ReconnectingOptions {
  readonly connect: () => Transport | Promise<Transport>;
  readonly open: (transport: Transport) => Connection;
  /** Says who we are, and takes up what there was before. A connection counts from then on. */
  readonly initialize: (connection: Connection, isAgain: boolean) => Promise<AgentProfile>;
  readonly rules: ReconnectRules;
  /** For transports that may end unnoticed. */
  readonly keepAlive: KeepAliveRules;
  readonly clock: BudgetClock;
  readonly random: () => number;
  readonly onState: (state: ConnectionState) => void;
}

export interface ReconnectRules extends Backoff {
  /** Connections that may fail one after the other; none for one that is not made again. */
  readonly attempts: number;
}

/** A connection that is kept up. */
export interface ReconnectingConnection {
  /** The one that there is, or the next. Rejects when there will be none. */
  getConnection(signal?: AbortSignal): Promise<InitializedConnection>;
  /** The one that there is now, if there is. */
  readonly currentConnection: Connection | undefined;
  close(): Promise<void>;
}

export interface InitializedConnection {
  readonly connection: Connection;
  readonly agent: AgentProfile;
}

export function createReconnectingConnection(options: ReconnectingOptions): ReconnectingConnection {
  const { connect, open, initialize, rules, clock, onState } = options;
  const closing = new AbortController();
  let next = createDeferred<InitializedConnection>();
  let connection: Connection | undefined;
  let isLive = false;
  let runs: Promise<void> | undefined;

  /** One connection, to its end. Throws why it did not come to be, or was lost. */
  async function attempt(isReconnect: boolean): Promise<{ readonly livedMs: number }> {
    const transport = await openTransport(connect, closing.signal);
    connection = open(transport);
    const attemptedConnection = connection;
    // Also while sessions are taken up: the agent may fall silent at any time.
    const stopKeeping =
      transport.mayStall === true
        ? startKeepAlive(attemptedConnection, clock, options.keepAlive)
        : () => {};
    try {
      const agent = await initialize(connection, isReconnect);
      const since = clock.monotonic();
      isLive = true;
      next.resolve({ connection, agent });
      onState({ type: "connected", agent, isReconnect });
      await connection.closed;
      return { livedMs: clock.monotonic() - since };
    } finally {
      stopKeeping();
      if (isLive) next = createDeferred();
      isLive = false;
      attemptedConnection.close();
      connection = undefined;
    }
  }

  async function run(): Promise<void> {
    let failedAttempts = 0;
    let wasConnected = false;
    for (;;) {
      let error: unknown = new SpanlineError("connection_lost", CONNECTION_LOST);
      try {
        const { livedMs } = await attempt(wasConnected);
        wasConnected = true;
        // One that is lost as soon as it is there is as good as none.
        if (livedMs >= rules.longest) failedAttempts = 0;
      } catch (thrown) {
        error = thrown;
      }
      if (closing.signal.aborted) return;
      failedAttempts += 1;
      if (!wasConnected || failedAttempts > rules.attempts) return fail(error);
      const retryMs = computeBackoff(failedAttempts, options.random(), rules);
      onState({ type: "lost", error, retryMs });
      await pause(clock, retryMs, closing.signal);
    }
  }

  function fail(error: unknown): void {
    next.reject(error);
    onState({ type: "closed", error });
  }

  function start(): void {
    runs ??= run().catch((error: unknown) => {
      if (!closing.signal.aborted) fail(error);
    });
  }

  return {
    getConnection(signal) {
      start();
      return signal === undefined ? next.promise : waitUnlessAborted(next.promise, signal);
    },
    get currentConnection() {
      return isLive ? connection : undefined;
    },
    async close() {
      if (closing.signal.aborted) return runs;
      closing.abort();
      if (isLive) next = createDeferred();
      isLive = false;
      next.reject(new SpanlineError("aborted", "The client was closed"));
      connection?.close();
      await runs;
      onState({ type: "closed" });
    },
  };
}

/** Nobody waits for a connection that is not wanted any more. One that comes all the same is closed. */
async function openTransport(
  connect: ReconnectingOptions["connect"],
  signal: AbortSignal,
): Promise<Transport> {
  const opening = (async () => connect())();
  try {
    return await waitUnlessAborted(opening, signal);
  } catch (error) {
    if (signal.aborted) {
      opening.then(
        (lateTransport) => lateTransport.close(),
        () => {},
      );
    }
    if (signal.aborted || error instanceof SpanlineError) throw error;
    const message = `No connection to the agent could be made: ${formatThrown(error)}`;
    throw new SpanlineError("connect_failed", message, { cause: error });
  }
}

interface Deferred<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value) => void;
  readonly reject: (error: unknown) => void;
}

function createDeferred<Value>(): Deferred<Value> {
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

const CONNECTION_LOST = "The connection to the agent was lost";
