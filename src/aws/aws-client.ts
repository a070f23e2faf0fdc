import type { ErrorResponse } from "../domain/provider/error-response.ts";
import type { Clock } from "../platform/clock.ts";
import type { HttpRequest, SendHttp } from "../platform/http-client.ts";
import { createSingleAttemptClient, type SendOnce } from "../remote/single-attempt-client.ts";
import type { Authorize } from "./signer.ts";

export interface AwsClientOptions {
  readonly send: SendHttp;
  readonly authorize: Authorize;
  readonly clock: Pick<Clock, "now">;
  /** The error that an answer stands for. */
  readonly toError: (response: ErrorResponse) => Error;
}

/** Calls a service of AWS, by its own time where ours is wrong. */
export function createAwsClient({ send, authorize, clock, toError }: AwsClientOptions): SendOnce {
  /** How far the service's clock is ahead of ours, where it said so. */
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
 * A signature carries the time it was made at, and the service takes none that is more than five minutes off: how far its
 * clock is ahead of ours, where it refused for that; null where it did not.
 */
function readClockSkew({ status, headers, body }: ErrorResponse, now: number): number | null {
  const errorText = `${headers["x-amzn-errortype"] ?? ""} ${body}`;
  if (status !== 403 || !SKEW_ERROR.test(errorText)) return null;
  const skew = Date.parse(headers["date"] ?? "") - now;
  return Math.abs(skew) <= MAX_SKEW_MS ? skew : null;
}

const SKEW_ERROR =
  /"message":"Signature (?:expired|not yet current)|RequestTimeTooSkewed|RequestExpired|RequestInTheFuture/i;

/** A clock that is further off is not slow but wrong, and so may be the one that says so. */
const MAX_SKEW_MS = 7 * 24 * 60 * 60 * 1000;
