import { SpanlineError } from "../../../domain/errors.ts";
import { cleanLine, cleanText } from "../../../text/clean-text.ts";
import type { ToolProblem } from "../tools/listed-tool.ts";

/** The kinds of server failure. `docs/mcp.md` lists their meaning and remedy. */
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

/** A reason why a server cannot be used. Reported to people, and to the model if it affects a tool call. */
export function createServerFailure(
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

/** The last lines of the server's stderr, formatted as the end of a sentence. */
export function formatStderrTail(stderr: string): string {
  const tail = cleanText(stderr.slice(-MAX_STDERR_LENGTH), MAX_STDERR_LENGTH);
  return tail === "" ? "; its stderr is empty" : `; the end of its stderr: ${tail}`;
}

const MAX_STDERR_LENGTH = 1000;

/** The session opened before the server was ready. */
export function createStartingFailure(server: string, connectTimeoutMs: number): SpanlineError {
  const seconds = connectTimeoutMs / 1000;
  const message = `is still starting; its tools are added when it is ready, within ${seconds} seconds (connectTimeoutMs)`;
  return createServerFailure(server, "starting", message);
}

/** A line on standard output which is not a message. */
export function createJunkFailure(server: string, line: string): SpanlineError {
  const message = `writes lines to its standard output that are not messages, such as: ${cleanLine(line, 100)}`;
  return createServerFailure(server, "protocol", `${message}. These lines are ignored`);
}

/** Undefined if every tool can be used. */
export function createUnusableToolsFailure(
  server: string,
  problems: readonly ToolProblem[],
): SpanlineError | undefined {
  if (problems.length === 0) return undefined;
  const listed = problems
    .slice(0, MAX_SHOWN)
    .map(({ tool, problem }) => (tool === "" ? problem : `${tool}: ${problem}`))
    .join("; ");
  const omitted = problems.length > MAX_SHOWN ? `; and ${problems.length - MAX_SHOWN} more` : "";
  const message = `has tools that cannot be used: ${listed}${omitted}`;
  return createServerFailure(server, "tools-unusable", message, { problems });
}

const MAX_SHOWN = 5;
