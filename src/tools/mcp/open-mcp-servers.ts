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
  /** Ours, as servers are told. */
  readonly version: string;
  readonly clock: SteadyClock;
  /** Ends all of it, as `close` does. */
  readonly signal: AbortSignal;
  /** This process's environment: of it a server gets `PATH` and the like, and what its settings name. */
  readonly environment: Environment;
  /** What is known to be secret of what servers are given, beside what is called so. */
  readonly secrets?: readonly string[];
  /** The session's working directory: programs run here, and `roots: "session"` offers it. */
  readonly workingDirectory?: string;
  /** For people: what is wrong with a server. Nothing of that ends a session. */
  readonly report: (failure: SpanlineError) => void;
  /** Some tools are others than before, or a server is there again. */
  readonly onToolsChanged?: () => void;
  readonly random?: () => number;
}

/** The MCP servers of one session. */
export interface McpServers {
  /** As of now. Those of a server that is lost stay, and say so when they are called. */
  readonly tools: () => readonly Tool[];
  readonly status: () => readonly McpServerStatus[];
  /** Resolves when no program of them is left. */
  readonly close: () => Promise<void>;
}

/** Connects to all servers at once. Resolves when each is connected or has failed; those that failed are tried again. */
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

/** Tools are told apart by the beginnings of their names. */
function checkDistinctNames(settings: readonly McpServerSettings[]): void {
  if (settings.length > MCP_LIMITS.servers) {
    const message = `There are ${settings.length} MCP servers; a session has ${MCP_LIMITS.servers} at most`;
    throw new SpanlineError("invalid_option", message, { details: { path: "mcpServers" } });
  }
  const parts = new Map<string, string>();
  for (const { name } of settings) {
    const existing = parts.get(toServerPrefix(name));
    if (existing !== undefined) {
      const message = `The MCP servers ${existing} and ${name} would give their tools the same names; rename one`;
      throw new SpanlineError("invalid_option", message, { details: { path: "mcpServers" } });
    }
    parts.set(toServerPrefix(name), name);
  }
}
