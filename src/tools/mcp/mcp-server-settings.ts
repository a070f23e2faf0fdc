/** An MCP server whose tools a session may use. */
export type McpServerSettings = StdioServerSettings | HttpServerSettings;

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
  /** How long the server may take until its tools are known. */
  readonly connectTimeoutMs?: number;
  /** Names of its tools, or patterns with `*`; all of them when absent. */
  readonly include?: readonly string[];
  /** The same; excluding beats including. */
  readonly exclude?: readonly string[];
  /** What the server says of its tools is believed: that they only read, that they may be run twice. */
  readonly trusted?: boolean;
}

export interface ServerTimes {
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  readonly connectTimeoutMs: number;
}

/** Editors give up on a session that is not there after half a minute. */
export function timesOf(settings: McpServerSettings): ServerTimes {
  const { timeoutMs = 60_000, connectTimeoutMs = 20_000 } = settings;
  const { maxTimeoutMs = Math.max(timeoutMs, 600_000) } = settings;
  return { timeoutMs, maxTimeoutMs, connectTimeoutMs };
}
