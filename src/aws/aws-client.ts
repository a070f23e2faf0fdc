import type { ErrorResponse } from "../domain/provider/error-response.ts";
import type { Clock } from "../platform/clock.ts";
import type { HttpRequest, SendHttp } from "../platform/http-client.ts";
import { createSingleAttemptClient, type SendOnce } from "../remote/single-attempt-client.ts";
import type { Authorize } from "./signer.ts";

export interface AwsClientOptions {
  readonly send: SendHttp;
  readonly authorize: Authorize;
  readonly clock: Pick<Clock, "now">;
  /** Converts an error response to an error. */
  readonly toError: (response: ErrorResponse) => Error;
}

/** Sends requests to an AWS service. Corrects the clock skew of this machine by the service's clock. */
export function createAwsClient({ send, authorize, clock, toError }: AwsClientOptions): SendOnce {
  /** How far the service's clock is ahead of the local clock, in milliseconds. 0 until a skew error reports the difference. */
  let clockOffset = 0;
  return createSingleAttemptClient({
    send,
    toError,
    authorize: (request) => authorize(request, clock.now() + clockOffset),
    isUnprocessed(refusal, request) {
      const skew = isSigned(request) ? readClockSkew(refusal, clock.now()) : null;
      if (skew !== null) clockOffset = skew;
      return skew !== null;
    },
  });
}

function isSigned({ headers }: HttpRequest): boolean {
  return headers["x-amz-date"] !== undefined;
}

/**
 * The clock skew reported by a signature error, in milliseconds. A signature contains its time, and AWS refuses a
 * signature that is more than five minutes off. Null for any other error.
 */
function readClockSkew({ status, headers, body }: ErrorResponse, now: number): number | null {
  const errorText = `${headers["x-amzn-errortype"] ?? ""} ${body}`;
  if (status !== 403 || !SKEW_ERROR.test(errorText)) return null;
  const skew = Date.parse(headers["date"] ?? "") - now;
  return Math.abs(skew) <= MAX_SKEW_MS ? skew : null;
}

const SKEW_ERROR =
  /"message":"Signature (?:expired|not yet current)|RequestTimeTooSkewed|RequestExpired|RequestInTheFuture/i;

/** A larger difference means a wrong clock, possibly the one of the server, so it is not corrected. */
const MAX_SKEW_MS = 7 * 24 * 60 * 60 * 1000;
