import { guardCall } from "../../async/call-guard.ts";
import type { SpanlineError } from "../../domain/errors.ts";
import type { Clock } from "../../platform/clock.ts";
import { notReady, type Connection } from "./connect-server.ts";
import { listTools, type Catalog } from "./list-tools.ts";
import { timesOf, type McpServerSettings } from "./mcp-server-settings.ts";

export interface FreshWork {
  readonly settings: McpServerSettings;
  readonly clock: Clock;
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
  let callOff = (): void => undefined;
  const ask = async (): Promise<void> => {
    isDue = false;
    isBusy = true;
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
    callOff = clock.after(PAUSE_MS, () => {
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

const PAUSE_MS = 1000;
