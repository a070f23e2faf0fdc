import type { Failure } from "../../domain/errors.ts";
import { ApiError, statusFor } from "../../http/api-error.ts";
import type { Asked } from "./ask.ts";
import { BUSY_SECONDS } from "./refusals.ts";
import { placeHeaders } from "./request-headers.ts";

/** The agent failed before it said a word: the status of the answer can still say so. */
export function deadBefore(
  failure: Failure | undefined,
  asked: Asked,
  hasResults: boolean,
): ApiError {
  const { code, message, details } = failure ?? NOTHING_SAID;
  const { retryAfter } = details;
  // A call that was turned away was not made. Whether one was made that broke, nobody knows. Results are taken once.
  const mayRetry = TURNED_AWAY.has(code) && !hasResults;
  return new ApiError(statusFor(code) ?? 502, code, message, {
    reason: code,
    headers: {
      ...placeHeaders(asked),
      "x-should-retry": String(mayRetry),
      ...(mayRetry && {
        "retry-after": String(
          typeof retryAfter === "number" ? Math.ceil(retryAfter) : BUSY_SECONDS,
        ),
      }),
    },
  });
}

const NOTHING_SAID: Failure = {
  code: "service_failed",
  message: "The agent failed before it said anything",
  details: {},
};

const TURNED_AWAY: ReadonlySet<string> = new Set(["throttled", "conflict", "connect_failed"]);
