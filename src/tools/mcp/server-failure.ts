import { SpanlineError } from "../../domain/errors.ts";
import { cleanLine, cleanText } from "./clean-text.ts";
import type { ToolProblem } from "./listed-tool.ts";

export type ServerProblem =
  | "command-not-found"
  | "folder-not-found"
  | "not-started"
  | "exited"
  | "starting"
  | "unreachable"
  | "http-status"
  | "auth-needed"
  | "timeout"
  | "protocol"
  | "too-large"
  | "not-reading"
  | "not-connected"
  | "tool-gone"
  | "tool-changed"
  | "tools-unusable"
  | "closed";

interface FailureFacts {
  readonly [name: string]: unknown;
}

/** Why a server cannot be used, for people: it may be reported, and told to a model whose call met it. */
export function serverFailure(
  server: string,
  problem: ServerProblem,
  message: string,
  facts: FailureFacts = {},
): SpanlineError {
  return new SpanlineError("mcp_server_failed", `The MCP server ${server} ${message}`, {
    details: { server, problem, ...facts },
  });
}

export function isServerFailure(error: unknown): error is SpanlineError {
  return error instanceof SpanlineError && error.code === "mcp_server_failed";
}

/** The last lines that a server wrote on its error output, as a sentence's end. */
export function lastWords(stderr: string): string {
  const words = cleanText(stderr.slice(-MAX_WORDS), MAX_WORDS);
  return words === "" ? "; it wrote nothing on stderr" : `; the end of its stderr: ${words}`;
}

const MAX_WORDS = 1000;

/** The session was opened before the server was ready. */
export function stillStarting(server: string, connectTimeoutMs: number): SpanlineError {
  const seconds = connectTimeoutMs / 1000;
  const message = `is still starting; its tools are added when it is ready, within ${seconds} seconds (connectTimeoutMs)`;
  return serverFailure(server, "starting", message);
}

/** A line of a program's standard output that is no message. */
export function junkFound(server: string, line: string): SpanlineError {
  const message = `writes on its standard output what is no message, such as: ${cleanLine(line, 100)}`;
  return serverFailure(server, "protocol", `${message}. That is passed over`);
}

/** Undefined when all can be used. */
export function unusableTools(
  server: string,
  problems: readonly ToolProblem[],
): SpanlineError | undefined {
  if (problems.length === 0) return undefined;
  const shown = problems
    .slice(0, MOST_SHOWN)
    .map(({ tool, problem }) => (tool === "" ? problem : `${tool}: ${problem}`))
    .join("; ");
  const more = problems.length > MOST_SHOWN ? `; and ${problems.length - MOST_SHOWN} more` : "";
  const message = `has tools that cannot be used as they are: ${shown}${more}`;
  return serverFailure(server, "tools-unusable", message, { problems });
}

const MOST_SHOWN = 5;
