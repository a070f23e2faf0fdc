import type { Failure } from "../../domain/errors.ts";
import { ApiError, resolveStatus } from "../../http/routing/api-error.ts";
import { createPreviousResponseNotFoundError } from "../../wire/responses/request/session-carriers.ts";
import {
  SESSION_ID_HINT,
  formatCancelPath,
  formatResponseId,
  type LogPosition,
} from "../../wire/responses/response-ids.ts";
import type { SubmittedPrompt } from "./prompt/prompt-request.ts";
import { createReferenceHeaders } from "./routes/request-headers.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** Nothing was run, and sending it again would not change that. */
const NEVER_RETRY = { "x-should-retry": "false" };

export function createUnknownModelError(model: string, knownModels: readonly string[]): ApiError {
  const message = `There is no agent "${model.slice(0, 100)}" here`;
  const hint = knownModels.length === 0 ? {} : { hint: `There is: ${knownModels.join(", ")}` };
  return new ApiError(404, "not_found", message, {
    param: "model",
    reason: "model_not_found",
    ...hint,
  });
}

export function createOtherAgentError(model: string, agent: string): ApiError {
  const message = `The session belongs to the agent "${agent}", and "${model}" was asked for`;
  return new ApiError(400, "validation_failed", message, {
    param: "model",
    reason: "agent_mismatch",
    hint: "Begin another session for another agent",
  });
}

/** `param` is what named it. */
export function createUnknownSessionError(sessionId: string, param = "session_id"): ApiError {
  const message = `There is no session "${sessionId}"`;
  return new ApiError(404, "not_found", message, {
    param,
    reason: "session_not_found",
    hint: `Begin one without an id. ${SESSION_ID_HINT}`,
  });
}

/** It is told the whole conversation every time: what a session knows would be lost without a word. */
export function createStatelessAgentError(agent: string, param: string): ApiError {
  const message = `The agent "${agent}" keeps no conversations, and "${param}" names one`;
  return new ApiError(400, "validation_failed", message, {
    param,
    reason: "stateless_agent",
    hint: "Send the whole conversation, and name none; only the results of open calls go on with one",
    headers: NEVER_RETRY,
  });
}

/** As soon as a session has gone on, what was said before cannot be answered in another way. */
export function createNotLatestError(): ApiError {
  return new ApiError(400, "conflict", "The session has gone on since that response", {
    param: "previous_response_id",
    reason: "previous_response_not_latest",
    hint: "Go on from its last response, or begin another session",
    headers: NEVER_RETRY,
  });
}

/** `response` is the one that left it open, where it can be found. */
export function createOpenCallsError(callId: string, response: LogPosition | undefined): ApiError {
  const message = `The turn waits for the result of the call "${callId}"`;
  const end = response === undefined ? "" : `. To end the turn: ${formatCancelPath(response)}`;
  return new ApiError(400, "resume_mismatch", message, {
    param: "input",
    reason: "missing_result",
    hint: `Send the results of all open calls; of one that was not done, that it was not${end}`,
  });
}

export function createForeignHistoryError(): ApiError {
  return new ApiError(400, "validation_failed", "The conversation was not held here", {
    param: "input",
    reason: "unknown_history",
    hint: "Send only what is new, or have the setting foreignHistory changed to replay",
  });
}

export function createKeyReusedError(): ApiError {
  return new ApiError(409, "conflict", "The Idempotency-Key was used for another request", {
    reason: "idempotency_key_reused",
    hint: "Give every request a key of its own",
    headers: NEVER_RETRY,
  });
}

/** How soon it is worth to try again: nobody knows when a turn ends. */
export const BUSY_SECONDS = 2;

/** Another turn runs: later there is room, and nothing was said to the agent. */
export function createBusyError(seconds: number): ApiError {
  return new ApiError(409, "conflict", "Another turn of this session is under way", {
    reason: "session_busy",
    hint: `Try again in ${seconds} s; nothing was run`,
    headers: { "retry-after": String(seconds), "x-should-retry": "true" },
  });
}

/** A command that the session did not take. */
export function toRefusalError(
  { code, message, details }: Failure,
  resolveField: (path: string) => string | undefined = () => undefined,
): ApiError {
  // More wait than may.
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

/** The agent failed before it said a word: the status of the answer can still say so. */
export function createEarlyFailure(
  failure: Failure | undefined,
  submitted: SubmittedPrompt,
  hasResults: boolean,
): ApiError {
  const { code, message, details } = failure ?? DEFAULT_FAILURE;
  const { retryAfter } = details;
  // A call that was turned away was not made. Whether one was made that broke, nobody knows. Results are taken once.
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
  message: "The agent failed before it said anything",
  details: {},
};

const RETRYABLE_CODES: ReadonlySet<string> = new Set(["throttled", "conflict", "connect_failed"]);
