import { guardCall, type Timer } from "../../async/call-guard.ts";
import type { ProgressAmount } from "../../domain/agent-event.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { isObject, jsonText, type JsonObject } from "../../domain/json.ts";
import type { ToolContext } from "../tool.ts";
import { cleanLine } from "./clean-text.ts";
import type { Connection } from "./connect-server.ts";
import { failureOf, statusOf } from "./failure-of.ts";
import type { ListedTool } from "./listed-tool.ts";
import { timesOf, type McpServerSettings } from "./mcp-server-settings.ts";
import { STREAM_ENDED } from "./request-streams.ts";
import { resultOutput } from "./result-output.ts";
import { anyResult, NO_TIMEOUT } from "./sdk.ts";
import { serverFailure } from "./server-failure.ts";

export interface ToolCallWork {
  readonly connection: Connection;
  readonly settings: McpServerSettings;
  readonly clock: Timer;
  readonly context: Pick<ToolContext, "signal" | "progress">;
}

/** Calls a tool of a server once. What it throws is for the model. */
export async function callTool(
  tool: ListedTool,
  input: JsonObject,
  work: ToolCallWork,
): Promise<unknown> {
  const { scrub } = work.connection;
  const result = await answered(tool, input, work);
  const { output, isError, structured } = resultOutput(scrub(result));
  if (isError) throw new Error(errorText(output));
  // A tool that has a schema and says nothing but text still says what the model needs.
  const isPlain = structured === undefined && output !== undefined;
  const problem = isPlain ? undefined : tool.checkOutput?.(structuredIn(result));
  if (problem === undefined) return output;
  const message = `It was run, but its result does not fit its own output schema: ${scrub(problem)}`;
  throw new SpanlineError("unexpected_answer", message, {
    details: { server: work.settings.name },
  });
}

/** As the server sent it: what it says of its results it does not say of scrubbed ones. */
function structuredIn(result: unknown): unknown {
  return isObject(result) ? result["structuredContent"] : undefined;
}

function errorText(output: unknown): string {
  if (output === undefined) return "The tool says that it failed, and not why";
  return typeof output === "string" ? output : jsonText(output);
}

async function answered(
  tool: ListedTool,
  input: JsonObject,
  { connection, settings, clock, context }: ToolCallWork,
): Promise<unknown> {
  const { timeoutMs, maxTimeoutMs } = timesOf(settings);
  const whole = { limit: "whole", milliseconds: maxTimeoutMs } as const;
  const guard = guardCall<"whole" | "quiet">(clock, context.signal, whole);
  guard.wait("quiet", timeoutMs);
  const request = { method: "tools/call", params: { name: tool.name, arguments: input } };
  try {
    return await connection.client.request(request, anyResult, {
      signal: guard.signal,
      timeout: NO_TIMEOUT,
      onprogress(progress) {
        guard.wait("quiet", timeoutMs);
        const facts = connection.scrub(progress);
        context.progress(progressText(facts), progressAmount(facts));
      },
    });
  } catch (error) {
    context.signal.throwIfAborted();
    if (guard.reached !== null) {
      const limit = guard.reached === "quiet" ? timeoutMs : maxTimeoutMs;
      const message = `gave no answer within ${limit / 1000} seconds`;
      throw unknownOutcome(serverFailure(settings.name, "timeout", message));
    }
    throw callFailure(error, connection, settings);
  } finally {
    guard.release();
  }
}

function unknownOutcome({ message, details }: SpanlineError): SpanlineError {
  return new SpanlineError("mcp_server_failed", `${message}. ${UNKNOWN_OUTCOME}`, { details });
}

const UNKNOWN_OUTCOME = "What the tool had done by then is not known, and it is not run again.";

/** Why there is no answer, and whether the tool may have run. */
function callFailure(
  error: unknown,
  connection: Connection,
  settings: McpServerSettings,
): SpanlineError {
  const { opened, sdk } = connection;
  if (opened.failure !== undefined) return unknownOutcome(opened.failure);
  const failure = failureOf(error, settings, connection);
  if (error instanceof sdk.ProtocolError) {
    if (error.code !== STREAM_ENDED) return failure;
    const broken = serverFailure(settings.name, "unreachable", "broke off before it answered");
    return unknownOutcome(broken);
  }
  const { problem, networkError } = failure.details;
  const status = statusOf(error, sdk);
  // It does not know us any more, or is not there: it has to be greeted again.
  if (problem === "unreachable" || (status !== undefined && LOST.has(status))) {
    opened.fail(failure);
  }
  const isSent = status === undefined && !NOT_SENT.has(String(networkError));
  return isSent ? unknownOutcome(failure) : failure;
}

const NOT_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

const LOST = new Set([401, 403, 404, 410]);

function progressText({ progress, total, message }: ProgressFacts): string {
  const text = typeof message === "string" ? cleanLine(message, MAX_PROGRESS) : "";
  if (text !== "") return text;
  return total === undefined ? String(progress) : `${progress} of ${total}`;
}

const MAX_PROGRESS = 500;

/** JSON has numbers that are too large to be counted with, such as 1e999. */
function progressAmount({ progress, total }: ProgressFacts): ProgressAmount | undefined {
  if (!Number.isFinite(progress)) return undefined;
  return { progress, ...(Number.isFinite(total) && { total: Number(total) }) };
}

interface ProgressFacts {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}
