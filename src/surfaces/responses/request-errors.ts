import type { Failure } from "../../domain/errors.ts";
import { ApiError, resolveStatus } from "../../http/routing/api-error.ts";
import { createPreviousResponseNotFoundError } from "../../wire/responses/request/session-carriers.ts";
import { type LogPosition } from "../../domain/events/log-position.ts";
import {
  SESSION_ID_HINT,
  formatCancelPath,
  formatResponseId,
} from "../../wire/responses/response-ids.ts";
import type { SubmittedPrompt } from "./prompt/prompt-request.ts";
import { createReferenceHeaders } from "./routes/request-headers.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

/** The request had no effect, and a retry would fail in the same way. */
const NEVER_RETRY = { "x-should-retry": "false" };

export function createUnknownModelError(model: string, knownModels: readonly string[]): ApiError {
  const message = formatUnknownName("Agent", model, { names: knownModels });
  return new ApiError(404, "not_found", message, { param: "model", reason: "model_not_found" });
}

export function createOtherAgentError(model: string, agent: string): ApiError {
  const message = `The session belongs to the agent "${agent}", not to "${model}"`;
  return new ApiError(400, "validation_failed", message, {
    param: "model",
    reason: "agent_mismatch",
    hint: "Start a new session for another agent",
  });
}

/** `param`: the field or header with the session id. */
export function createUnknownSessionError(sessionId: string, param = "session_id"): ApiError {
  const message = formatUnknownName("Session", sessionId);
  return new ApiError(404, "not_found", message, {
    param,
    reason: "session_not_found",
    hint: `Start a session without an id. ${SESSION_ID_HINT}`,
  });
}

/**
 * A stateless agent receives the whole conversation with every request. The session's history would be dropped
 * silently, so naming a session is an error.
 */
export function createStatelessAgentError(agent: string, param: string): ApiError {
  const message = `The agent "${agent}" is stateless, but "${param}" names a conversation`;
  return new ApiError(400, "validation_failed", message, {
    param,
    reason: "stateless_agent",
    hint: "Send the whole conversation without naming a session; only results of open tool calls may name a session",
    headers: NEVER_RETRY,
  });
}

/**
 * A session has a single line of history: once the session has continued, an earlier response cannot be the starting
 * point.
 */
export function createNotLatestError(): ApiError {
  return new ApiError(400, "conflict", "The session has continued after that response", {
    param: "previous_response_id",
    reason: "previous_response_not_latest",
    hint: "Continue from its last response, or start a new session",
    headers: NEVER_RETRY,
  });
}

/** `response`: the response that left the call open, if known. */
export function createOpenCallsError(callId: string, response: LogPosition | undefined): ApiError {
  const message = `The turn waits for the result of the tool call "${callId}"`;
  const end = response === undefined ? "" : `. To end the turn: ${formatCancelPath(response)}`;
  return new ApiError(400, "resume_mismatch", message, {
    param: "input",
    reason: "missing_result",
    hint: `Send the results of all open tool calls, also of calls that were not run${end}`,
  });
}

export function createForeignHistoryError(): ApiError {
  return new ApiError(
    400,
    "validation_failed",
    "The conversation has history that is unknown to this bridge",
    {
      param: "input",
      reason: "unknown_history",
      hint: "Send only new messages, or change the setting foreignHistory to replay",
    },
  );
}

export function createKeyReusedError(): ApiError {
  return new ApiError(409, "conflict", "The Idempotency-Key was used for another request", {
    reason: "idempotency_key_reused",
    hint: "Use a different key for every request",
    headers: NEVER_RETRY,
  });
}

/** Seconds. Sent as `retry-after`; the end of a running turn cannot be predicted. */
export const BUSY_SECONDS = 2;

/** Another turn runs in the session. The request had no effect and can be retried. */
export function createBusyError(seconds: number): ApiError {
  return new ApiError(409, "conflict", "Another turn of this session is running", {
    reason: "session_busy",
    hint: `Retry in ${seconds} s; the request had no effect`,
    headers: { "retry-after": String(seconds), "x-should-retry": "true" },
  });
}

/** Converts a refused session command to an HTTP error. */
export function toRefusalError(
  { code, message, details }: Failure,
  resolveField: (path: string) => string | undefined = () => undefined,
): ApiError {
  // The session's prompt queue is full.
  if (code === "conflict") return createBusyError(BUSY_SECONDS);
  const status = code === "access_denied" ? 403 : code === "not_found" ? 404 : 400;
  const path = code === "resume_mismatch" ? "results" : details["path"];
  const param = typeof path === "string" ? resolveField(path) : undefined;
  return new ApiError(status, code, message, {
    ...omitUndefined({ param }),
    headers: NEVER_RETRY,
  });
}

export function createPreviousNotFoundError(reference: LogPosition): Error {
  return createPreviousResponseNotFoundError(formatResponseId(reference));
}

/** The error for an agent that failed before its first output: the HTTP status can still report the failure. */
export function createEarlyFailure(
  failure: Failure | undefined,
  submitted: SubmittedPrompt,
  hasResults: boolean,
): ApiError {
  const { code, message, details } = failure ?? DEFAULT_FAILURE;
  const { retryAfter } = details;
  // A rejected invocation did not run. After a broken invocation the effect is unknown, so no retry. Tool results are
  // accepted only once.
  const mayRetry = RETRYABLE_CODES.has(code) && !hasResults;
  return new ApiError(resolveStatus(code) ?? 502, code, message, {
    reason: code,
    headers: {
      ...createReferenceHeaders(submitted),
      "x-should-retry": String(mayRetry),
      ...(mayRetry && {
        "retry-after": String(
          typeof retryAfter === "number" ? Math.ceil(retryAfter) : BUSY_SECONDS,
        ),
      }),
    },
  });
}

const DEFAULT_FAILURE: Failure = {
  code: "service_failed",
  message: "The agent failed before its first output",
  details: {},
};

const RETRYABLE_CODES: ReadonlySet<string> = new Set(["throttled", "conflict", "connect_failed"]);
