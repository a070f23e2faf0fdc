import { untilAborted } from "../async/pause.ts";
import type { ErrorAnswer } from "../domain/error-answer.ts";
import { AbortError, providerError } from "../domain/provider-error.ts";
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

/** Makes a call once. Resolves with an answer that is a success, its body unread; rejects with anything else. */
export type CallAws = (request: HttpRequest, signal: AbortSignal) => Promise<HttpAnswer>;

export function awsCaller({ send, authorize, clock, errorFor }: CallerOptions): CallAws {
  /** How far the service's clock is ahead of ours, where it said so. */
  let ahead = 0;

  async function attempt(
    request: HttpRequest,
    signal: AbortSignal,
  ): Promise<HttpAnswer | ErrorAnswer> {
    // A source of credentials takes as long as it takes, and cannot be called off.
    const authorizing = authorize(request, clock.now() + ahead);
    const authorized = await untilAborted(authorizing, signal);
    const answer = await send(authorized, signal);
    if (answer.status >= 200 && answer.status < 300) return answer;
    const body = await readStart(answer);
    return {
      status: answer.status,
      headers: answer.headers,
      body: withoutSecrets(body, authorized),
    };
  }

  return async (request, signal) => {
    try {
      let outcome = await attempt(request, signal);
      if (isErrorAnswer(outcome) && isSkewed(outcome)) {
        // Refused before it was looked at, so that this is still one call.
        ahead = Date.parse(outcome.headers["date"] ?? "") - clock.now() || 0;
        outcome = await attempt(request, signal);
      }
      if (isErrorAnswer(outcome)) throw errorFor(outcome);
      return outcome;
    } catch (error) {
      throw callError(error, request, signal);
    }
  };
}

function isErrorAnswer(outcome: HttpAnswer | ErrorAnswer): outcome is ErrorAnswer {
  return typeof outcome.body === "string";
}

/** A signature carries the time it was made at, and the service takes none that is more than five minutes off. */
function isSkewed({ status, headers, body }: ErrorAnswer): boolean {
  return status === 403 && headers["date"] !== undefined && SKEW.test(body);
}

const SKEW =
  /Signature expired|Signature not yet current|RequestTimeTooSkewed|RequestExpired|RequestInTheFuture/;

function callError(error: unknown, { url }: HttpRequest, signal: AbortSignal): unknown {
  const isLost = error instanceof NoAnswerError;
  if (signal.aborted) return new AbortError(signal.reason, isLost && error.sent);
  if (!isLost) return error;
  if (error.sent) {
    const message = `The connection to ${url.host} was lost before an answer came: ${error.message}`;
    return providerError("connection_lost", message, { phase: "http", cause: error.cause });
  }
  const message = `Cannot connect to ${url.host}: ${error.message}`;
  return providerError("connect_failed", message, { phase: "connect", cause: error.cause });
}

/** A service that refuses a request may quote it, with what was secret in it. */
function withoutSecrets(text: string, { headers }: HttpRequest): string {
  const secrets = SECRET_HEADERS.flatMap((name) => headers[name]?.split(" ").at(-1) ?? []);
  return secrets.reduce(
    (safe, secret) => (secret === "" ? safe : safe.replaceAll(secret, "[redacted]")),
    text,
  );
}

const SECRET_HEADERS = ["authorization", "x-amz-security-token", "x-api-key", "api-key"];

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
