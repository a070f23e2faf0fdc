import { pause, untilAborted } from "../../async/pause.ts";
import { backoff } from "../../async/retried.ts";
import { thrownMessage, type SpanlineError } from "../../domain/errors.ts";
import type { Tool } from "../tool.ts";
import { attemptServer, type Attached } from "./attempt-server.ts";
import { callSlots } from "./call-slots.ts";
import type { Connection, ConnectWork } from "./connect-server.ts";
import { freshCatalog } from "./fresh-catalog.ts";
import { MCP_LIMITS } from "./limits.ts";
import { EMPTY_CATALOG, type Catalog } from "./list-tools.ts";
import type { ToolProblem } from "./listed-tool.ts";
import { timesOf, type McpServerSettings } from "./mcp-server-settings.ts";
import { reportOnce, type ReportOnce } from "./report-once.ts";
import {
  isServerFailure,
  junkFound,
  serverFailure,
  stillStarting,
  unusableTools,
} from "./server-failure.ts";
import { serverTool, type ToolHome } from "./server-tool.ts";
import { withoutSecrets, type ConfidenceWork, type WithoutSecrets } from "./without-secrets.ts";

export interface ServerWork extends Omit<ConnectWork, "junk" | "scrub">, ConfidenceWork {
  readonly random: () => number;
  readonly report: (failure: SpanlineError) => void;
}

export interface McpServerStatus {
  readonly name: string;
  readonly state: Link["state"];
  /** Why it is not connected; it is tried again. */
  readonly failure?: SpanlineError;
  readonly tools: number;
  /** Tools that it has and that cannot be used. */
  readonly problems: readonly ToolProblem[];
}

/** A server that is connected to, and again whenever it is lost, until the signal ends that. */
export interface KeptServer {
  /** Resolves when the first try is over, however it ended, or has taken as long as a session waits for it. */
  readonly tried: Promise<void>;
  /** While the server is lost these are the ones that it had. */
  tools(): readonly Tool[];
  status(): McpServerStatus;
  /** Resolves when nothing of it is left. */
  readonly ended: Promise<void>;
}

export function keepServer(settings: McpServerSettings, work: ServerWork): KeptServer {
  const clean = withoutSecrets(settings, work);
  const report = reportOnce((failure) => work.report(clean.failure(failure)));
  let tellTried = (): void => undefined;
  const tried = new Promise<void>((resolve) => {
    tellTried = resolve;
  });
  const kept: Kept = {
    settings,
    work,
    clean,
    report,
    link: { state: "closed" },
    catalog: EMPTY_CATALOG,
    tools: [],
    isTried: false,
    stopWaiting: () => undefined,
    tellTried,
  };
  const home = homeOf(kept);
  return {
    tried,
    tools: () => kept.tools,
    status: () => ({
      name: settings.name,
      state: kept.link.state,
      ...(kept.link.state === "waiting" && { failure: kept.link.failure }),
      tools: kept.tools.length,
      problems: kept.catalog.problems,
    }),
    ended: keep(kept, home),
  };
}

type Link =
  | { readonly state: "connecting"; readonly connection: Promise<Connection> }
  | { readonly state: "connected"; readonly connection: Connection }
  | { readonly state: "waiting"; readonly failure: SpanlineError }
  | { readonly state: "closed" };

/** All that changes about a server. */
interface Kept {
  readonly settings: McpServerSettings;
  readonly work: ServerWork;
  readonly clean: WithoutSecrets;
  readonly report: ReportOnce;
  link: Link;
  catalog: Catalog;
  tools: readonly Tool[];
  isTried: boolean;
  /** Stops the timer after which the session opens without the server. */
  stopWaiting: () => void;
  readonly tellTried: () => void;
}

function homeOf(kept: Kept): ToolHome {
  const { settings, work, clean } = kept;
  const notConnected = (why: string): SpanlineError => {
    const message = `is not connected (${why}). The tool was not run; the server is tried again`;
    return serverFailure(settings.name, "not-connected", message);
  };
  return {
    settings,
    clock: work.clock,
    clean,
    slots: callSlots(MCP_LIMITS.calls, MCP_LIMITS.waitingCalls),
    listed: (tool) => kept.catalog.tools.get(tool),
    async connection(caller) {
      const { link } = kept;
      switch (link.state) {
        case "connected":
          return link.connection;
        case "connecting":
          return untilAborted(link.connection, caller).catch((error: unknown) => {
            caller.throwIfAborted();
            throw notConnected(thrownMessage(error));
          });
        case "waiting":
          throw notConnected(link.failure.message);
        case "closed":
          throw notConnected("it was closed");
      }
    },
  };
}

async function keep(kept: Kept, home: ToolHome): Promise<void> {
  const { settings, work, clean, report } = kept;
  const { clock, signal } = work;
  kept.stopWaiting = openWithout(kept);
  for (let made = 1; !signal.aborted; made += 1) {
    const start = clock.monotonic();
    const failure = await liveOnce(kept, home).catch((error: unknown) => failed(settings, error));
    if (signal.aborted) break;
    kept.link = { state: "waiting", failure: clean.failure(failure) };
    report.once(failure);
    endFirstTry(kept);
    if (clock.monotonic() - start >= STEADY_MS) made = 1;
    await pause(clock, backoff(made, work.random(), BACKOFF), signal).catch(() => undefined);
  }
  kept.link = { state: "closed" };
  endFirstTry(kept);
}

function endFirstTry(kept: Kept): void {
  kept.stopWaiting();
  kept.isTried = true;
  kept.tellTried();
}

/** Lets the session open without a server that may take longer than a session waits. Returns how to stop that. */
function openWithout(kept: Kept): () => void {
  const { openingMs, connectTimeoutMs } = timesOf(kept.settings);
  if (openingMs >= connectTimeoutMs) return () => undefined;
  return kept.work.clock.after(openingMs, () => {
    kept.report.once(stillStarting(kept.settings.name, connectTimeoutMs));
    endFirstTry(kept);
  });
}

const BACKOFF = { first: 1000, longest: 60_000 };

/** One that ends as soon as it has begun is not begun again and again without a pause. */
const STEADY_MS = 60_000;

function failed({ name }: McpServerSettings, error: unknown): SpanlineError {
  if (isServerFailure(error)) return error;
  return serverFailure(name, "protocol", `could not be used: ${thrownMessage(error)}`);
}

/** From one try to connect until the connection is lost, and why it was. */
async function liveOnce(kept: Kept, home: ToolHome): Promise<SpanlineError> {
  const { settings, work, report } = kept;
  let isStale = false;
  let due = (): void => void (isStale = true);
  const trying = attemptServer(settings, {
    ...work,
    scrub: kept.clean.scrub,
    junk: (line) => report.once(junkFound(settings.name, line)),
    changed: () => due(),
  });
  const attached = await connecting(kept, trying);
  const { connection } = attached;
  const take = (catalog: Catalog): void => offer(kept, catalog, home);
  const { clock, signal } = work;
  const fresh = freshCatalog(connection, { settings, clock, signal, take, report: report.once });
  try {
    kept.link = { state: "connected", connection };
    report.forget();
    take(attached.catalog);
    endFirstTry(kept);
    due = fresh.due;
    if (isStale) due();
    const failure = await untilAborted(connection.opened.over, signal);
    kept.link = { state: "waiting", failure: kept.clean.failure(failure) };
    return failure;
  } finally {
    fresh.end();
    await connection.close();
  }
}

/** Calls that come meanwhile wait for it. */
function connecting(kept: Kept, trying: Promise<Attached>): Promise<Attached> {
  const connection = trying.then((attached) => attached.connection);
  // Whoever waits for it hears that it failed; mostly nobody does.
  connection.catch(() => undefined);
  kept.link = { state: "connecting", connection };
  return trying;
}

function offer(kept: Kept, catalog: Catalog, home: ToolHome): void {
  kept.catalog = catalog;
  kept.tools = [...catalog.tools.values()].map((tool) => serverTool(tool, home));
  const unusable = unusableTools(kept.settings.name, catalog.problems);
  if (unusable !== undefined) kept.report.once(unusable);
  if (kept.isTried) kept.work.changed();
}
