import { pause, waitUnlessAborted } from "../../async/pause.ts";
import { computeBackoff, type Backoff } from "../../async/retry.ts";
import type { TimeBudgetClock } from "../../async/time-budget.ts";
import { SpanlineError, formatThrown } from "../../domain/errors.ts";
import type { AgentProfile } from "../../wire/acp/client/agent-profile.ts";
import type { Connection } from "./agent-connection.ts";
import { startKeepAlive, type KeepAliveRules } from "./keep-alive.ts";
import type { Transport } from "../transports/transport.ts";

/** The state of a client's connection. */
export type ConnectionState =
  | { readonly type: "connected"; readonly agent: AgentProfile; readonly isReconnect: boolean }
  | { readonly type: "lost"; readonly error: unknown; readonly retryMs: number }
  /** Final. `error` is the reason, absent if the client closed the connection. */
  | { readonly type: "closed"; readonly error?: unknown };

export interface ReconnectingOptions {
  readonly connect: () => Transport | Promise<Transport>;
  readonly open: (transport: Transport) => Connection;
  /** Performs the handshake and resumes the sessions. The connection is usable after this resolves. */
  readonly initialize: (connection: Connection, isAgain: boolean) => Promise<AgentProfile>;
  readonly rules: ReconnectRules;
  /** Used for transports whose end may go unnoticed. */
  readonly keepAlive: KeepAliveRules;
  readonly clock: TimeBudgetClock;
  readonly random: () => number;
  readonly onState: (state: ConnectionState) => void;
}

export interface ReconnectRules extends Backoff {
  /** Maximum number of consecutive failed connections. 0: the connection is not opened again. */
  readonly attempts: number;
}

/** A connection that reconnects after a loss. */
export interface ReconnectingConnection {
  /** Resolves with the current connection, or with the next. Rejects if no connection will follow. */
  getConnection(signal?: AbortSignal): Promise<InitializedConnection>;
  /** The current connection. Undefined while disconnected. */
  readonly currentConnection: Connection | undefined;
  close(): Promise<void>;
}

export interface InitializedConnection {
  readonly connection: Connection;
  readonly agent: AgentProfile;
}

export function createReconnectingConnection(options: ReconnectingOptions): ReconnectingConnection {
  return new ConnectionLoop(options);
}

class ConnectionLoop implements ReconnectingConnection {
  readonly #options: ReconnectingOptions;
  readonly #closing = new AbortController();
  #next = createDeferred<InitializedConnection>();
  #connection: Connection | undefined;
  #isLive = false;
  #runs: Promise<void> | undefined;

  constructor(options: ReconnectingOptions) {
    this.#options = options;
  }

  getConnection(signal?: AbortSignal): Promise<InitializedConnection> {
    this.#start();
    const { promise } = this.#next;
    return signal === undefined ? promise : waitUnlessAborted(promise, signal);
  }

  get currentConnection(): Connection | undefined {
    return this.#isLive ? this.#connection : undefined;
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return this.#runs;
    this.#closing.abort();
    this.#endLive();
    this.#next.reject(new SpanlineError("aborted", "The client was closed"));
    this.#connection?.close();
    await this.#runs;
    this.#options.onState({ type: "closed" });
  }

  #start(): void {
    this.#runs ??= this.#run().catch((error: unknown) => {
      if (!this.#closing.signal.aborted) this.#fail(error);
    });
  }

  async #run(): Promise<void> {
    const { rules, clock, random, onState } = this.#options;
    const { signal } = this.#closing;
    let failedAttempts = 0;
    let wasConnected = false;
    for (;;) {
      let error: unknown = new SpanlineError("connection_lost", CONNECTION_LOST);
      try {
        const { livedMs } = await this.#attempt(wasConnected);
        wasConnected = true;
        // A connection lost soon after its start counts as a failed attempt.
        if (livedMs >= rules.longest) failedAttempts = 0;
      } catch (thrown) {
        error = thrown;
      }
      if (signal.aborted) return;
      failedAttempts += 1;
      if (!wasConnected || failedAttempts > rules.attempts) return this.#fail(error);
      const retryMs = computeBackoff(failedAttempts, random(), rules);
      onState({ type: "lost", error, retryMs });
      await pause(clock, retryMs, signal);
    }
  }

  /**
   * Opens a connection and waits for its end. Throws if the connection cannot be opened or is lost during the
   * handshake.
   */
  async #attempt(isReconnect: boolean): Promise<{ readonly livedMs: number }> {
    const { connect, open, initialize, clock, keepAlive, onState } = this.#options;
    const transport = await openTransport(connect, this.#closing.signal);
    const connection = open(transport);
    this.#connection = connection;
    // Runs also while sessions are resumed, because the agent may stop responding at any time.
    const stopKeeping =
      transport.mayStall === true ? startKeepAlive(connection, clock, keepAlive) : () => {};
    try {
      const agent = await initialize(connection, isReconnect);
      const since = clock.monotonic();
      this.#isLive = true;
      this.#next.resolve({ connection, agent });
      onState({ type: "connected", agent, isReconnect });
      await connection.closed;
      return { livedMs: clock.monotonic() - since };
    } finally {
      stopKeeping();
      this.#endLive();
      connection.close();
      this.#connection = undefined;
    }
  }

  /** Callers of `getConnection` wait for the next connection from here on. */
  #endLive(): void {
    if (this.#isLive) this.#next = createDeferred();
    this.#isLive = false;
  }

  #fail(error: unknown): void {
    this.#next.reject(error);
    this.#options.onState({ type: "closed", error });
  }
}

/** Stops waiting when the client is closed. A transport opened later is closed. */
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
    const message = `The connection to the agent could not be opened: ${formatThrown(error)}`;
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
  // Prevents an unhandled rejection if no caller waits.
  promise.catch(() => {});
  return { promise, resolve, reject };
}

const CONNECTION_LOST = "The connection to the agent was lost";
