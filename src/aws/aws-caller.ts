import type { ErrorAnswer } from "../domain/error-answer.ts";
import type { Clock } from "../platform/clock.ts";
import type { HttpRequest, SendHttp } from "../platform/http-client.ts";
import { onceCaller, type CallOnce } from "../remote/once-caller.ts";
import type { Authorize } from "./sign.ts";

export interface AwsCallerOptions {
  readonly send: SendHttp;
  readonly authorize: Authorize;
  readonly clock: Pick<Clock, "now">;
  /** The error that an answer stands for. */
  readonly errorFor: (answer: ErrorAnswer) => Error;
}

/** Calls a service of AWS, by its own time where ours is wrong. */
export function awsCaller({ send, authorize, clock, errorFor }: AwsCallerOptions): CallOnce {
  /** How far the service's clock is ahead of ours, where it said so. */
  let ahead = 0;
  return onceCaller({
    send,
    errorFor,
    authorize: (request) => authorize(request, clock.now() + ahead),
    isUnseen(refusal, sent) {
      const skew = isSigned(sent) ? skewIn(refusal, clock.now()) : null;
      if (skew !== null) ahead = skew;
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
function skewIn({ status, headers, body }: ErrorAnswer, now: number): number | null {
  const named = `${headers["x-amzn-errortype"] ?? ""} ${body}`;
  if (status !== 403 || !SKEW.test(named)) return null;
  const skew = Date.parse(headers["date"] ?? "") - now;
  return Math.abs(skew) <= LARGEST_SKEW ? skew : null;
}

const SKEW =
  /"message":"Signature (?:expired|not yet current)|RequestTimeTooSkewed|RequestExpired|RequestInTheFuture/i;

/** A clock that is further off is not slow but wrong, and so may be the one that says so. */
const LARGEST_SKEW = 7 * 24 * 60 * 60 * 1000;
