import type { Failure } from "../../../domain/errors.ts";
import { ApiError, resolveStatus } from "../../../http/routing/api-error.ts";
import type { SubmittedPrompt } from "../prompt/prompt-request.ts";
import { BUSY_SECONDS } from "../request-errors.ts";
import { createReferenceHeaders } from "../routes/request-headers.ts";

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
