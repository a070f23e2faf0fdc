import { untilAborted } from "../async/pause.ts";
import type { ErrorAnswer } from "../domain/error-answer.ts";
import { thrownMessage, SpanlineError } from "../domain/errors.ts";
import { jsonText, parseJson } from "../domain/json.ts";
import { AbortError, providerError } from "../domain/provider-error.ts";
import { scrubber, type Scrub } from "../domain/scrubber.ts";
import {
  NoAnswerError,
  type HttpAnswer,
  type HttpRequest,
  type SendHttp,
} from "../platform/http-client.ts";

export interface OnceCallerOptions {
  readonly send: SendHttp;
  /** Makes a request one that the service lets in. */
  readonly authorize: (request: HttpRequest) => Promise<HttpRequest>;
  /** The error that an answer stands for. */
  readonly errorFor: (answer: ErrorAnswer) => Error;
  /**
   * Whether a request was refused before the service looked at it, and would not be if it were authorized anew. It is
   * then sent once more, which is still one call.
   */
  readonly isUnseen?: (refusal: ErrorAnswer, sent: HttpRequest) => boolean;
}

/** An answer that is a success, its body unread. */
export interface ServiceAnswer extends HttpAnswer {
  /** For whatever of the body is shown to somebody. */
  readonly scrub: Scrub;
}

/** Makes a call once, and rejects with anything but a success. */
export type CallOnce = (request: HttpRequest, signal: AbortSignal) => Promise<ServiceAnswer>;

export function onceCaller(options: OnceCallerOptions): CallOnce {
  const { send, authorize, errorFor, isUnseen = () => false } = options;

  async function attempt(request: HttpRequest, signal: AbortSignal, progress: Progress) {
    // A source of credentials takes as long as it takes, and cannot be called off.
    const sent = await untilAborted(authorized(authorize(request)), signal);
    const scrub = scrubber(secretsOf(sent));
    const answer = await send(sent, signal);
    progress.sent = true;
    if (answer.status >= 200 && answer.status < 300) return { ...answer, scrub };
    const refusal = scrubbedAnswer({ ...answer, body: await readStart(answer) }, scrub);
    return { refusal, isUnseen: isUnseen(refusal, sent) };
  }

  return async (request, signal) => {
    const progress: Progress = { sent: false };
    try {
      let outcome = await attempt(request, signal, progress);
      if ("refusal" in outcome && outcome.isUnseen) {
        outcome = await attempt(request, signal, progress);
      }
      if ("refusal" in outcome) throw errorFor(outcome.refusal);
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
    const message = `The source of credentials failed: ${thrownMessage(cause)}`;
    throw new SpanlineError("no_credentials", message, { cause });
  }
}

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
