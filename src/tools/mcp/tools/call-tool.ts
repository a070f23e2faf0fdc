import { guardInvocation, type Timer } from "../../../async/invocation-guard.ts";
import type { ProgressAmount } from "../../../domain/events/tool-events.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import { isObject, toJsonText, type JsonObject } from "../../../data/json.ts";
import type { ToolContext } from "../../tool.ts";
import { cleanLine } from "../../../text/clean-text.ts";
import type { ServerConnection } from "../connection/connect-server.ts";
import { toServerFailure, readHttpStatus } from "../connection/sdk-failure.ts";
import type { ListedTool } from "./listed-tool.ts";
import { resolveServerTimes, type McpServerSettings } from "../mcp-server-settings.ts";
import { STREAM_ENDED } from "../transport/request-streams.ts";
import { readResultOutput } from "./result-output.ts";
import { anyResult, NO_TIMEOUT } from "../mcp-sdk.ts";
import { createServerFailure } from "../connection/server-failure.ts";

export interface ToolCallContext {
  readonly connection: ServerConnection;
  readonly settings: McpServerSettings;
  readonly clock: Timer;
  readonly context: Pick<ToolContext, "signal" | "progress">;
}

/** Sends a tool call to a server once. Errors are worded for the model. */
export async function callTool(
  tool: ListedTool,
  input: JsonObject,
  callContext: ToolCallContext,
): Promise<unknown> {
  const { scrub } = callContext.connection;
  const result = await requestToolCall(tool, input, callContext);
  const { output, isError, structured } = readResultOutput(scrub(result));
  if (isError) {
    // An expected failure, so it has a code: callers print a stack trace for any other error.
    const details = { server: callContext.settings.name };
    throw new SpanlineError("mcp_server_failed", formatToolError(output), { details });
  }
  // A text-only result of a tool with an output schema is accepted: the text is sufficient for the model.
  const isTextOnly = structured === undefined && output !== undefined;
  const problem = isTextOnly ? undefined : tool.checkOutput?.(readStructuredContent(result));
  if (problem === undefined) return output;
  const message = `The tool was run, but its result does not match its own output schema: ${scrub(problem)}`;
  throw new SpanlineError("unexpected_answer", message, {
    details: { server: callContext.settings.name },
  });
}

/** The value as sent by the server: the output schema does not apply to redacted values. */
function readStructuredContent(result: unknown): unknown {
  return isObject(result) ? result["structuredContent"] : undefined;
}

function formatToolError(output: unknown): string {
  if (output === undefined) return "The tool failed without a reason";
  return typeof output === "string" ? output : toJsonText(output);
}

async function requestToolCall(
  tool: ListedTool,
  input: JsonObject,
  { connection, settings, clock, context }: ToolCallContext,
): Promise<unknown> {
  const { timeoutMs, maxTimeoutMs } = resolveServerTimes(settings);
  const totalLimit = { limit: "whole", milliseconds: maxTimeoutMs } as const;
  const guard = guardInvocation<"whole" | "quiet">(clock, context.signal, totalLimit);
  guard.startWait("quiet", timeoutMs);
  const request = { method: "tools/call", params: { name: tool.name, arguments: input } };
  try {
    return await connection.client.request(request, anyResult, {
      signal: guard.signal,
      timeout: NO_TIMEOUT,
      onprogress(progress) {
        guard.startWait("quiet", timeoutMs);
        const facts = connection.scrub(progress);
        context.progress(formatProgress(facts), readProgressAmount(facts));
      },
    });
  } catch (error) {
    context.signal.throwIfAborted();
    if (guard.reachedLimit !== null) {
      const limit = guard.reachedLimit === "quiet" ? timeoutMs : maxTimeoutMs;
      const message = `did not respond within ${limit / 1000} seconds`;
      throw markOutcomeUnknown(createServerFailure(settings.name, "timeout", message));
    }
    throw createCallFailure(error, connection, settings);
  } finally {
    guard.release();
  }
}

/** Adds to a failure the note that the tool may have run. */
function markOutcomeUnknown({ message, details }: SpanlineError): SpanlineError {
  return new SpanlineError("mcp_server_failed", `${message}. ${UNKNOWN_OUTCOME}`, { details });
}

const UNKNOWN_OUTCOME = "The outcome of the tool call is unknown, and the tool is not run again.";

/** Why there is no response, and whether the tool may have run. */
function createCallFailure(
  error: unknown,
  connection: ServerConnection,
  settings: McpServerSettings,
): SpanlineError {
  const { transport, sdk } = connection;
  if (transport.failure !== undefined) return markOutcomeUnknown(transport.failure);
  const failure = toServerFailure(error, settings, connection);
  if (error instanceof sdk.ProtocolError) {
    if (error.code !== STREAM_ENDED) return failure;
    const broken = createServerFailure(
      settings.name,
      "unreachable",
      "closed the connection before it responded",
    );
    return markOutcomeUnknown(broken);
  }
  const { problem, networkError } = failure.details;
  const status = readHttpStatus(error, sdk);
  // The server has lost the session or is unreachable, so a new handshake is needed.
  if (problem === "unreachable" || (status !== undefined && LOST_SESSION_STATUSES.has(status))) {
    transport.fail(failure);
  }
  const mayHaveRun = status === undefined && !NOT_SENT_CODES.has(String(networkError));
  return mayHaveRun ? markOutcomeUnknown(failure) : failure;
}

/** Network errors before the request was sent: the tool has certainly not run. */
const NOT_SENT_CODES = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);

/** HTTP statuses after which the server no longer accepts the session. */
const LOST_SESSION_STATUSES = new Set([401, 403, 404, 410]);

function formatProgress({ progress, total, message }: ProgressFacts): string {
  const text = typeof message === "string" ? cleanLine(message, MAX_PROGRESS_LENGTH) : "";
  if (text !== "") return text;
  return total === undefined ? String(progress) : `${progress} of ${total}`;
}

const MAX_PROGRESS_LENGTH = 500;

/** JSON allows numbers beyond the range of doubles, such as 1e999. */
function readProgressAmount({ progress, total }: ProgressFacts): ProgressAmount | undefined {
  if (!Number.isFinite(progress)) return undefined;
  return { progress, ...(Number.isFinite(total) && { total: Number(total) }) };
}

interface ProgressFacts {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}
