import { guardInvocation } from "../../../async/invocation-guard.ts";
import type { SpanlineError } from "../../../domain/errors.ts";
import type { SteadyClock } from "../../../platform/clock.ts";
import { createNotReadyFailure, type ServerConnection } from "../connection/connect-server.ts";
import { listTools, type Catalog } from "./list-tools.ts";
import { resolveServerTimes, type McpServerSettings } from "../mcp-server-settings.ts";

export interface CatalogRefreshOptions {
  readonly settings: McpServerSettings;
  readonly clock: SteadyClock;
  readonly signal: AbortSignal;
  readonly onCatalog: (catalog: Catalog) => void;
  readonly report: (failure: SpanlineError) => void;
}

/** Lists a server's tools again after a change notification. Rate-limited for servers which send many notifications. */
export function createCatalogRefresh(
  connection: ServerConnection,
  { settings, clock, signal, onCatalog, report }: CatalogRefreshOptions,
): { readonly request: () => void; readonly end: () => void } {
  let isDue = false;
  let isBusy = false;
  let isOver = false;
  /** Refreshes without a quiet period in between. */
  let consecutive = 0;
  let last = clock.monotonic();
  let cancelTimer = (): void => undefined;
  const refresh = async (): Promise<void> => {
    isDue = false;
    isBusy = true;
    consecutive = clock.monotonic() - last >= MAX_PAUSE_MS * 2 ? 1 : consecutive + 1;
    last = clock.monotonic();
    const milliseconds = resolveServerTimes(settings).connectTimeoutMs;
    const guard = guardInvocation(clock, signal, { limit: "list", milliseconds });
    try {
      const catalog = await listTools(connection, settings, guard.signal);
      if (!isOver) onCatalog(catalog);
    } catch (error) {
      // A lost connection is handled by the managed server. On any other error the last known tools remain.
      const isConnected = connection.transport.failure === undefined && !signal.aborted && !isOver;
      if (isConnected)
        report(
          guard.reachedLimit === null ? (error as SpanlineError) : createNotReadyFailure(settings),
        );
    } finally {
      guard.release();
    }
    if (isOver) return;
    cancelTimer = clock.schedule(computePause(consecutive), () => {
      isBusy = false;
      if (isDue) void refresh();
    });
  };
  return {
    request() {
      isDue = true;
      if (!isBusy && !isOver) void refresh();
    },
    end() {
      isOver = true;
      cancelTimer();
    },
  };
}

/**
 * Some servers announce their tools one by one. Exponential pauses keep a server which never stops from filling the
 * log.
 */
function computePause(consecutive: number): number {
  return Math.min(PAUSE_MS * 2 ** Math.max(0, consecutive - MAX_CONSECUTIVE), MAX_PAUSE_MS);
}

const PAUSE_MS = 1000;
const MAX_PAUSE_MS = 60_000;
const MAX_CONSECUTIVE = 10;
