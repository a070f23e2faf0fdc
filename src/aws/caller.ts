import { untilAborted } from "../async/pause.ts";
import type { ErrorAnswer } from "../domain/error-answer.ts";
import { SpanlineError } from "../domain/errors.ts";
import { jsonText, parseJson } from "../domain/json.ts";
import { AbortError, providerError } from "../domain/provider-error.ts";
import { scrubber, type Scrub } from "../domain/scrubber.ts";
import type { Clock } from "../platform/clock.ts";
import {
  NoAnswerError,
  type HttpAnswer,
  type HttpRequest,
  type SendHttp,
} from "../platform/http-client.ts";
import type { Authorize } from "./sign.ts";

export interface CallerOptions {
  readonly send: SendHttp;
  readonly authorize: Authorize;
  readonly clock: Clock;
  /** The error that an answer stands for. */
  readonly errorFor: (answer: ErrorAnswer) => Error;
}

/** An answer that is a success, its body unread. */
export interface AwsAnswer extends HttpAnswer {
  /** For whatever of the body is shown to somebody. */
  readonly scrub: Scrub;
}

/** Makes a call once, and rejects with anything but a success. */
export type CallAws = (request: HttpRequest, signal: AbortSignal) => Promise<AwsAnswer>;

export function awsCaller({ send, authorize, clock, errorFor }: CallerOptions): CallAws {
  /** How far the service's clock is ahead of ours, where it said so. */
  let ahead = 0;

  async function attempt(request: HttpRequest, signal: AbortSignal, progress: Progress) {
    // A source of credentials takes as long as it takes, and cannot be called off.
    const authorizing = authorized(authorize(request, clock.now() + ahead));
    const sent = await untilAborted(authorizing, signal);
    const scrub = scrubber(secretsOf(sent));
    const answer = await send(sent, signal);
    progress.sent = true;
    if (answer.status >= 200 && answer.status < 300) return { ...answer, scrub };
    const body = await readStart(answer);
    const refusal = scrubbedAnswer({ ...answer, body }, scrub);
    return isSigned(sent) ? { ...refusal, skew: skewIn(refusal, clock.now()) } : refusal;
  }

  return async (request, signal) => {
    const progress: Progress = { sent: false };
    try {
      let outcome = await attempt(request, signal, progress);
      if ("skew" in outcome && outcome.skew !== null) {
        // Refused before it was looked at, so that this is still one call.
        ahead = outcome.skew;
        outcome = await attempt(request, signal, progress);
      }
      if (isErrorAnswer(outcome)) throw errorFor(outcome);
      return outcome;
    } catch (error) {
      throw callError(error, request, { signal, sent: progress.sent });
    }
  };
}

interface Progress {
  /** An answer began, so that the request was heard. */
  sent: boolean;
}

/** A source that fails in its own way has still brought no credentials. */
async function authorized(authorizing: Promise<HttpRequest>): Promise<HttpRequest> {
  try {
    return await authorizing;
  } catch (cause) {
    if (cause instanceof SpanlineError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The source of credentials failed: ${reason}`;
    throw new SpanlineError("no_credentials", message, { cause });
  }
}

function isErrorAnswer(outcome: AwsAnswer | ErrorAnswer): outcome is ErrorAnswer {
  return typeof outcome.body === "string";
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

function callError(
  error: unknown,
  { url }: HttpRequest,
  { signal, sent }: { readonly signal: AbortSignal; readonly sent: boolean },
): unknown {
  const isLost = error instanceof NoAnswerError;
  if (signal.aborted) return new AbortError(signal.reason, sent || (isLost && error.sent));
  if (!isLost) return error;
  if (error.sent) {
    const message = `The connection to ${url.host} was lost before an answer came: ${error.message}`;
    return providerError("connection_lost", message, { phase: "http", cause: error.cause });
  }
  const message = `Cannot connect to ${url.host}: ${error.message}`;
  return providerError("connect_failed", message, { phase: "connect", cause: error.cause });
}

/** What was secret in a request. */
function secretsOf({ headers }: HttpRequest): string[] {
  return SECRET_HEADERS.flatMap((name) => headers[name]?.split(" ").at(-1) ?? []);
}

const SECRET_HEADERS = ["authorization", "x-amz-security-token", "x-api-key", "api-key"];

/** JSON is looked at as what it says, since the same text can be written in many ways. */
function scrubbedAnswer({ status, headers, body }: ErrorAnswer, scrub: Scrub): ErrorAnswer {
  const parsed = parseJson(body);
  const safe = parsed.ok ? jsonText(scrub(parsed.value)) : scrub(body);
  return { status, headers: scrub(headers), body: safe };
}

const MOST_ERROR_BYTES = 64 * 1024;

/** An error says what it has to say at its start; leaving it there closes the connection, and an end that is missing is no loss. */
async function readStart({ body }: HttpAnswer): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk.subarray(0, MOST_ERROR_BYTES - length));
      length += chunk.length;
      if (length >= MOST_ERROR_BYTES) break;
    }
  } catch {
    // The status has come; that is enough to know what happened.
  }
  return Buffer.concat(chunks).toString("utf8");
}
