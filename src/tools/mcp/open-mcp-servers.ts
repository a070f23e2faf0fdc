import { SpanlineError } from "../../domain/errors.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import { randomFraction } from "../../platform/random.ts";
import type { Tool } from "../tool.ts";
import { manageServer, type McpServerStatus } from "./connection/managed-server.ts";
import { MCP_LIMITS } from "./mcp-limits.ts";
import type { McpServerSettings } from "./mcp-server-settings.ts";
import { toServerPrefix } from "./model-name.ts";
import type { Environment } from "../../platform/environment.ts";

export interface McpContext {
  /** Spanline's version, sent to servers. */
  readonly version: string;
  readonly clock: SteadyClock;
  /** Closes all servers when aborted, like `close`. */
  readonly signal: AbortSignal;
  /** The environment of this process. A server receives `PATH` and similar, and the variables named in its settings. */
  readonly environment: Environment;
  /** Known secrets among the servers' settings, in addition to values recognized as secrets by their names. */
  readonly secrets?: readonly string[];
  /** The session's working directory: programs run there, and `roots: "session"` offers it. */
  readonly workingDirectory?: string;
  /** Receives server failures, for people. A server failure never ends a session. */
  readonly report: (failure: SpanlineError) => void;
  /** Called when tools have changed or a server has reconnected. */
  readonly onToolsChanged?: () => void;
  readonly random?: () => number;
}

/** The MCP servers of a session. */
export interface McpServers {
  /** The current tools. Tools of a disconnected server remain listed, and fail with a reason when called. */
  readonly tools: () => readonly Tool[];
  readonly status: () => readonly McpServerStatus[];
  /** Resolves when all server programs have exited. */
  readonly close: () => Promise<void>;
}

/**
 * Connects to all servers in parallel. Resolves when each server is connected, has failed, or is slower than its
 * `openingMs`; failed servers are retried. Throws `invalid_option` if two servers would have the same tool names.
 */
export async function openMcpServers(
  settings: readonly McpServerSettings[],
  context: McpContext,
): Promise<McpServers> {
  checkDistinctNames(settings);
  const controller = new AbortController();
  const { signal } = controller;
  const abort = (): void => controller.abort(context.signal.reason);
  context.signal.addEventListener("abort", abort, { once: true });
  if (context.signal.aborted) abort();
  const { onToolsChanged = () => undefined, random = randomFraction } = context;
  const servers = settings.map((serverSettings) =>
    manageServer(serverSettings, { ...context, signal, onToolsChanged, random }),
  );
  await Promise.all(servers.map(({ firstAttempt }) => firstAttempt));
  return {
    tools: () => servers.flatMap((server) => server.tools()),
    status: () => servers.map((server) => server.status()),
    async close() {
      context.signal.removeEventListener("abort", abort);
      controller.abort();
      await Promise.all(servers.map(({ ended }) => ended));
    },
  };
}

/** Tools are assigned to servers by their name prefix. */
function checkDistinctNames(settings: readonly McpServerSettings[]): void {
  if (settings.length > MCP_LIMITS.servers) {
    const message = `There are ${settings.length} MCP servers; the limit is ${MCP_LIMITS.servers}`;
    throw new SpanlineError("invalid_option", message, { details: { path: "mcpServers" } });
  }
  const parts = new Map<string, string>();
  for (const { name } of settings) {
    const existing = parts.get(toServerPrefix(name));
    if (existing !== undefined) {
      const message = `The MCP servers ${existing} and ${name} would give their tools the same names. Fix: rename one of the servers`;
      throw new SpanlineError("invalid_option", message, { details: { path: "mcpServers" } });
    }
    parts.set(toServerPrefix(name), name);
  }
}
