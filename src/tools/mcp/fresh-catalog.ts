import { guardCall } from "../../async/call-guard.ts";
import type { SpanlineError } from "../../domain/errors.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import { notReady, type Connection } from "./connect-server.ts";
import { listTools, type Catalog } from "./list-tools.ts";
import { timesOf, type McpServerSettings } from "./mcp-server-settings.ts";

export interface FreshWork {
  readonly settings: McpServerSettings;
  readonly clock: SteadyClock;
  readonly signal: AbortSignal;
  readonly take: (catalog: Catalog) => void;
  readonly report: (failure: SpanlineError) => void;
}

/** Asks a server for its tools again when it says that they have changed; now and then, however often it says so. */
export function freshCatalog(
  connection: Connection,
  { settings, clock, signal, take, report }: FreshWork,
): { readonly due: () => void; readonly end: () => void } {
  let isDue = false;
  let isBusy = false;
  let isOver = false;
  /** How often it was asked without a while of quiet between. */
  let inRow = 0;
  let last = clock.monotonic();
  let callOff = (): void => undefined;
  const ask = async (): Promise<void> => {
    isDue = false;
    isBusy = true;
    inRow = clock.monotonic() - last >= LONGEST_PAUSE_MS * 2 ? 1 : inRow + 1;
    last = clock.monotonic();
    const milliseconds = timesOf(settings).connectTimeoutMs;
    const guard = guardCall(clock, signal, { limit: "list", milliseconds });
    try {
      const catalog = await listTools(connection, settings, guard.signal);
      if (!isOver) take(catalog);
    } catch (error) {
      // A server that is lost is another's concern; from one that is there, the tools that it told before stay.
      const isThere = connection.opened.failure === undefined && !signal.aborted && !isOver;
      if (isThere) report(guard.reached === null ? (error as SpanlineError) : notReady(settings));
    } finally {
      guard.release();
    }
    if (isOver) return;
    callOff = clock.after(pauseAfter(inRow), () => {
      isBusy = false;
      if (isDue) void ask();
    });
  };
  return {
    due() {
      isDue = true;
      if (!isBusy && !isOver) void ask();
    },
    end() {
      isOver = true;
      callOff();
    },
  };
}

/** Some servers tell of their tools bit by bit. One that never stops fills the log with its lists. */
function pauseAfter(inRow: number): number {
  return Math.min(PAUSE_MS * 2 ** Math.max(0, inRow - MOST_IN_ROW), LONGEST_PAUSE_MS);
}

const PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 60_000;
const MOST_IN_ROW = 10;
