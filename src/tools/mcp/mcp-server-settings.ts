import { basename } from "node:path";
import type { SteadyClock } from "../../platform/clock.ts";

/** An MCP server whose tools a session may use. */
export type McpServerSettings = StdioServerSettings | HttpServerSettings;

/** MCP servers, and what connecting to them needs. */
export interface McpConnection {
  readonly servers: readonly McpServerSettings[];
  /** Ours, as servers are told. */
  readonly version: string;
  readonly clock: SteadyClock;
  readonly environment: { readonly [name: string]: string | undefined };
  /** What is known to be secret of what servers are given, beside what is called so. */
  readonly secrets?: readonly string[];
  /** What is wrong with a server: its session goes on without it. */
  readonly report: (error: unknown) => void;
}

/** A program of this machine that talks over its standard input and output, and ends with us. */
export interface StdioServerSettings extends CommonSettings {
  readonly type: "stdio";
  readonly command: string;
  readonly args?: readonly string[];
  /** What it finds in its environment beside `PATH`, `HOME` and the like. Nothing else of ours reaches it. */
  readonly env?: { readonly [name: string]: string };
  /** Names of variables of ours that it gets too. */
  readonly inheritEnv?: readonly string[];
  /** Where it runs; the session's working directory when absent. */
  readonly cwd?: string;
}

/** `http` is Streamable HTTP, or what came before it where the server knows no other; `sse` is the latter at once. */
export interface HttpServerSettings extends CommonSettings {
  readonly type: "http" | "sse";
  readonly url: string;
  readonly headers?: { readonly [name: string]: string };
}

interface CommonSettings {
  readonly name: string;
  /** How long a call may go without an answer and without progress. */
  readonly timeoutMs?: number;
  /** How long a call may take, whatever progress it makes. */
  readonly maxTimeoutMs?: number;
  /** How long the server may take until its tools are known. Default: 20 s, and 5 minutes for `npx` and the like. */
  readonly connectTimeoutMs?: number;
  /** How long it is kept for a session that nobody uses. It may hold something that would be lost, such as a browser. */
  readonly idleMs?: number;
  /** Names of its tools, or patterns with `*`; all of them when absent. */
  readonly include?: readonly string[];
  /** The same; excluding beats including. */
  readonly exclude?: readonly string[];
  /** What the server says of its tools is believed: that they only read, that they may be run twice. */
  readonly trusted?: boolean;
  /** Folders that the server may ask for as MCP roots. Default: none, and the server cannot ask. */
  readonly roots?: McpRoots;
}

/**
 * `session` is the session's working directory. Relative paths start at the session's working directory; those of a
 * configuration start at its folder.
 */
export type McpRoots = "session" | readonly string[];

export interface ServerTimes {
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** How long the opening of a session waits for the server. Tools of a slower server are added later. */
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

/** Editors give up on a session that is not there after half a minute. */
const OPENING_MS = 20_000;
const INSTALL_MS = 300_000;

/** True for programs that download what they run before they run it. */
function mayInstall(settings: McpServerSettings): boolean {
  return settings.type === "stdio" && INSTALLERS.has(basename(settings.command));
}

const INSTALLERS: ReadonlySet<string> = new Set(
  "npx npm pnpm pnpx yarn bun bunx deno uv uvx pipx docker podman".split(" "),
);
