import { guardInvocation } from "../../../async/invocation-guard.ts";
import { pause, waitUnlessAborted } from "../../../async/pause.ts";
import { computeBackoff } from "../../../async/retry.ts";
import { formatThrown, type SpanlineError } from "../../../domain/errors.ts";
import type { Tool } from "../../tool.ts";
import { MCP_LIMITS } from "../mcp-limits.ts";
import { resolveServerTimes, type McpServerSettings } from "../mcp-server-settings.ts";
import { createCatalogRefresh } from "../tools/catalog-refresh.ts";
import { EMPTY_CATALOG, type Catalog, listTools } from "../tools/list-tools.ts";
import type { ToolProblem } from "../tools/listed-tool.ts";
import { createServerTool, type ToolHost } from "../tools/server-tool.ts";
import { createToolCallSlots } from "../tools/tool-call-slots.ts";
import {
  type ServerConnection,
  type ConnectContext,
  connectServer,
  createNotReadyFailure,
} from "./connect-server.ts";
import {
  createOutputSanitizer,
  type SanitizerOptions,
  type OutputSanitizer,
} from "./output-sanitizer.ts";
import {
  isServerFailure,
  createJunkFailure,
  createServerFailure,
  createStartingFailure,
  createUnusableToolsFailure,
} from "./server-failure.ts";

export interface ServerContext
  extends Omit<ConnectContext, "onJunkLine" | "scrub">, SanitizerOptions {
  readonly random: () => number;
  readonly report: (failure: SpanlineError) => void;
}

export interface McpServerStatus {
  readonly name: string;
  readonly state: ServerLink["state"];
  /** Why the server is not connected. The connection is retried. */
  readonly failure?: SpanlineError;
  readonly tools: number;
  /** Tools of the server which cannot be used. */
  readonly problems: readonly ToolProblem[];
}

/** A server connection which is re-established whenever it is lost, until the signal aborts. */
export interface ManagedServer {
  /** Resolves when the first attempt has succeeded or failed, or has exceeded `openingMs`. */
  readonly firstAttempt: Promise<void>;
  /** While the server is disconnected, its last known tools. */
  tools(): readonly Tool[];
  status(): McpServerStatus;
  /** Resolves when all resources are released. */
  readonly ended: Promise<void>;
}

export function manageServer(settings: McpServerSettings, context: ServerContext): ManagedServer {
  const sanitizer = createOutputSanitizer(settings, context);
  const report = createOnceReporter((failure) => context.report(sanitizer.scrubFailure(failure)));
  let resolveFirstAttempt = (): void => undefined;
  const firstAttempt = new Promise<void>((resolve) => {
    resolveFirstAttempt = resolve;
  });
  const state: ServerState = {
    settings,
    context,
    sanitizer,
    report,
    link: { state: "closed" },
    catalog: EMPTY_CATALOG,
    tools: [],
    isFirstAttemptOver: false,
    stopWaiting: () => undefined,
    resolveFirstAttempt,
  };
  const toolHost = createToolHost(state);
  return {
    firstAttempt,
    tools: () => state.tools,
    status: () => ({
      name: settings.name,
      state: state.link.state,
      ...(state.link.state === "waiting" && { failure: state.link.failure }),
      tools: state.tools.length,
      problems: state.catalog.problems,
    }),
    ended: runServer(state, toolHost),
  };
}

type ServerLink =
  | { readonly state: "connecting"; readonly connection: Promise<ServerConnection> }
  | { readonly state: "connected"; readonly connection: ServerConnection }
  | { readonly state: "waiting"; readonly failure: SpanlineError }
  | { readonly state: "closed" };

/** The mutable state of a managed server. */
interface ServerState {
  readonly settings: McpServerSettings;
  readonly context: ServerContext;
  readonly sanitizer: OutputSanitizer;
  readonly report: OnceReporter;
  link: ServerLink;
  catalog: Catalog;
  tools: readonly Tool[];
  isFirstAttemptOver: boolean;
  /** Cancels the timer after which the session opens without the server. */
  stopWaiting: () => void;
  readonly resolveFirstAttempt: () => void;
}

function createToolHost(state: ServerState): ToolHost {
  const { settings, context, sanitizer } = state;
  const notConnected = (why: string): SpanlineError => {
    const message = `is not connected (${why}). The tool was not run; the connection is being retried`;
    return createServerFailure(settings.name, "not-connected", message);
  };
  return {
    settings,
    clock: context.clock,
    sanitizer,
    slots: createToolCallSlots(MCP_LIMITS.calls, MCP_LIMITS.waitingCalls),
    findTool: (tool) => state.catalog.tools.get(tool),
    async connect(signal) {
      const { link } = state;
      switch (link.state) {
        case "connected":
          return link.connection;
        case "connecting":
          return waitUnlessAborted(link.connection, signal).catch((error: unknown) => {
            signal.throwIfAborted();
            throw notConnected(formatThrown(error));
          });
        case "waiting":
          throw notConnected(link.failure.message);
        case "closed":
          throw notConnected("it was closed");
      }
    },
  };
}

/** Connects and reconnects with exponential backoff until the signal aborts. */
async function runServer(state: ServerState, toolHost: ToolHost): Promise<void> {
  const { settings, context, sanitizer, report } = state;
  const { clock, signal } = context;
  state.stopWaiting = startOpeningTimer(state);
  for (let attempts = 1; !signal.aborted; attempts += 1) {
    const start = clock.monotonic();
    const failure = await runConnection(state, toolHost).catch((error: unknown) =>
      toFailure(settings, error),
    );
    if (signal.aborted) break;
    state.link = { state: "waiting", failure: sanitizer.scrubFailure(failure) };
    report.report(failure);
    endFirstAttempt(state);
    if (clock.monotonic() - start >= STABLE_CONNECTION_MS) attempts = 1;
    await pause(clock, computeBackoff(attempts, context.random(), BACKOFF), signal).catch(
      () => undefined,
    );
  }
  state.link = { state: "closed" };
  endFirstAttempt(state);
}

function endFirstAttempt(state: ServerState): void {
  state.stopWaiting();
  state.isFirstAttemptOver = true;
  state.resolveFirstAttempt();
}

/** Lets the session open without a slow server. Returns a function which cancels the timer. */
function startOpeningTimer(state: ServerState): () => void {
  const { openingMs, connectTimeoutMs } = resolveServerTimes(state.settings);
  if (openingMs >= connectTimeoutMs) return () => undefined;
  return state.context.clock.schedule(openingMs, () => {
    state.report.report(createStartingFailure(state.settings.name, connectTimeoutMs));
    endFirstAttempt(state);
  });
}

const BACKOFF = { first: 1000, longest: 60_000 };

/**
 * A connection shorter than this does not reset the backoff, so that a crashing server is not restarted in a tight
 * loop.
 */
const STABLE_CONNECTION_MS = 60_000;

function toFailure({ name }: McpServerSettings, error: unknown): SpanlineError {
  if (isServerFailure(error)) return error;
  return createServerFailure(name, "protocol", `could not be used: ${formatThrown(error)}`);
}

/** Runs a single connection from the attempt until its loss. Returns the reason of the loss. */
async function runConnection(state: ServerState, toolHost: ToolHost): Promise<SpanlineError> {
  const { settings, context, report } = state;
  let isStale = false;
  let requestRefresh = (): void => void (isStale = true);
  const attempt = attemptConnection(settings, {
    ...context,
    scrub: state.sanitizer.scrub,
    onJunkLine: (line) => report.report(createJunkFailure(settings.name, line)),
    onToolsChanged: () => requestRefresh(),
  });
  const connected = await markConnecting(state, attempt);
  const { connection } = connected;
  const setCatalog = (catalog: Catalog): void => applyCatalog(state, catalog, toolHost);
  const { clock, signal } = context;
  const catalogRefresh = createCatalogRefresh(connection, {
    settings,
    clock,
    signal,
    onCatalog: setCatalog,
    report: report.report,
  });
  try {
    state.link = { state: "connected", connection };
    report.reset();
    setCatalog(connected.catalog);
    endFirstAttempt(state);
    requestRefresh = catalogRefresh.request;
    if (isStale) requestRefresh();
    const failure = await waitUnlessAborted(connection.transport.ended, signal);
    state.link = { state: "waiting", failure: state.sanitizer.scrubFailure(failure) };
    return failure;
  } finally {
    catalogRefresh.end();
    await connection.close();
  }
}

/** Tool calls during the attempt wait for it. */
function markConnecting(
  state: ServerState,
  attempt: Promise<ConnectedServer>,
): Promise<ConnectedServer> {
  const connection = attempt.then((attached) => attached.connection);
  // Waiting tool calls receive the rejection; usually there are none.
  connection.catch(() => undefined);
  state.link = { state: "connecting", connection };
  return attempt;
}

function applyCatalog(state: ServerState, catalog: Catalog, toolHost: ToolHost): void {
  state.catalog = catalog;
  state.tools = [...catalog.tools.values()].map((tool) => createServerTool(tool, toolHost));
  const unusable = createUnusableToolsFailure(state.settings.name, catalog.problems);
  if (unusable !== undefined) state.report.report(unusable);
  if (state.isFirstAttemptOver) state.context.onToolsChanged();
}

/** A connected server and its tools. */
interface ConnectedServer {
  readonly connection: ServerConnection;
  readonly catalog: Catalog;
}

/**
 * Connects to a server and lists its tools, within `connectTimeoutMs`. Rejects with a server failure, after all
 * resources were released.
 */
async function attemptConnection(
  settings: McpServerSettings,
  work: ConnectContext,
): Promise<ConnectedServer> {
  const milliseconds = resolveServerTimes(settings).connectTimeoutMs;
  const guard = guardInvocation(work.clock, work.signal, { limit: "connect", milliseconds });
  let connection: ServerConnection | undefined;
  try {
    connection = await connectServer(settings, { ...work, signal: guard.signal });
    return { connection, catalog: await listTools(connection, settings, guard.signal) };
  } catch (error) {
    await connection?.close();
    const hasTimedOut = guard.reachedLimit !== null && connection !== undefined;
    throw hasTimedOut
      ? createNotReadyFailure(settings, connection?.transport.readStderrTail())
      : error;
  } finally {
    guard.release();
  }
}

/** Reports each distinct message once until `reset`, and at most 20 messages. */
interface OnceReporter {
  readonly report: (failure: SpanlineError) => void;
  readonly reset: () => void;
}

function createOnceReporter(report: (failure: SpanlineError) => void): OnceReporter {
  const reported = new Set<string>();
  return {
    report(failure) {
      if (reported.has(failure.message) || reported.size >= MAX_REPORTS) return;
      reported.add(failure.message);
      report(failure);
    },
    reset: () => reported.clear(),
  };
}

const MAX_REPORTS = 20;
