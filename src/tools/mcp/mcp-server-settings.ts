import { basename } from "node:path";
import type { SteadyClock } from "../../platform/clock.ts";

/** An MCP server whose tools a session may use. */
export type McpServerSettings = StdioServerSettings | HttpServerSettings;

/** MCP servers and the environment for their connections. */
export interface McpConnection {
  readonly servers: readonly McpServerSettings[];
  /** Spanline's version, sent to servers. */
  readonly version: string;
  readonly clock: SteadyClock;
  readonly environment: { readonly [name: string]: string | undefined };
  /** Known secrets among the servers' settings, in addition to values recognized as secrets by their names. */
  readonly secrets?: readonly string[];
  /** Receives server failures. The session continues without the server. */
  readonly report: (error: unknown) => void;
}

/** A local program which communicates over its standard input and output, and ends with this process. */
export interface StdioServerSettings extends CommonSettings {
  readonly type: "stdio";
  readonly command: string;
  readonly args?: readonly string[];
  /** Environment variables in addition to `PATH`, `HOME` and similar. No other variables of this process are passed. */
  readonly env?: { readonly [name: string]: string };
  /** Names of variables inherited from this process. */
  readonly inheritEnv?: readonly string[];
  /** Working directory. Default: the session's working directory. */
  readonly cwd?: string;
}

/** `http` is Streamable HTTP with fallback to the older HTTP with SSE; `sse` uses the older transport directly. */
export interface HttpServerSettings extends CommonSettings {
  readonly type: "http" | "sse";
  readonly url: string;
  readonly headers?: { readonly [name: string]: string };
}

interface CommonSettings {
  readonly name: string;
  /** Time without a response and without progress. Default: 60 s. */
  readonly timeoutMs?: number;
  /** Total time of a tool call, regardless of progress. Default: 10 minutes, or `timeoutMs` if longer. */
  readonly maxTimeoutMs?: number;
  /** Time until the server's tools are known. Default: 20 s, or 5 minutes for `npx` and similar installers. */
  readonly connectTimeoutMs?: number;
  /** Time the server is kept for an idle session. A server may hold state, such as a browser. Default: 15 minutes. */
  readonly idleMs?: number;
  /** Tool names, or patterns with `*`. Default: all tools. */
  readonly include?: readonly string[];
  /** Same form as `include`. Exclusion takes precedence. */
  readonly exclude?: readonly string[];
  /** Whether the server's annotations of its tools (read-only, idempotent) are believed. Default: false. */
  readonly trusted?: boolean;
  /** Folders which the server may request as MCP roots. Default: none, and roots are not offered. */
  readonly roots?: McpRoots;
}

/**
 * `session` is the session's working directory. Relative paths are resolved against the session's working directory, or
 * for paths in a configuration file against its folder.
 */
export type McpRoots = "session" | readonly string[];

export interface ServerTimes {
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** Time the opening of a session waits for the server. Tools of a slower server are added later. */
  readonly openingMs: number;
  readonly idleMs: number;
}

export function resolveServerTimes(settings: McpServerSettings): ServerTimes {
  const { timeoutMs = 60_000, idleMs = 900_000 } = settings;
  const { maxTimeoutMs = Math.max(timeoutMs, 600_000) } = settings;
  const { connectTimeoutMs: openingMs = OPENING_MS } = settings;
  const connectTimeoutMs =
    settings.connectTimeoutMs ?? (mayInstall(settings) ? INSTALL_MS : OPENING_MS);
  return { timeoutMs, maxTimeoutMs, connectTimeoutMs, openingMs, idleMs };
}

/** Editors abandon a session which is not open within half a minute. */
const OPENING_MS = 20_000;
const INSTALL_MS = 300_000;

/** True for programs which download their package before they run it. */
function mayInstall(settings: McpServerSettings): boolean {
  return settings.type === "stdio" && INSTALLERS.has(basename(settings.command));
}

const INSTALLERS: ReadonlySet<string> = new Set(
  "npx npm pnpm pnpx yarn bun bunx deno uv uvx pipx docker podman".split(" "),
);
