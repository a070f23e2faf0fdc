import { waitUnlessAborted } from "../async/pause.ts";
import type { ErrorResponse } from "../domain/provider/error-response.ts";
import { formatThrown, SpanlineError } from "../domain/errors.ts";
import { toJsonText, parseJson } from "../data/json.ts";
import { AbortError, createProviderError } from "../domain/provider/provider-error.ts";
import { createSecretRedactor, type RedactSecrets } from "../data/secret-redactor.ts";
import {
  NoResponseError,
  type HttpResponse,
  type HttpRequest,
  type SendHttp,
} from "../platform/http-client.ts";

export interface SingleAttemptOptions {
  readonly send: SendHttp;
  /** Adds credentials to a request. */
  readonly authorize: (request: HttpRequest) => Promise<HttpRequest>;
  /** Converts an error response to an error. */
  readonly toError: (response: ErrorResponse) => Error;
  /**
   * True if the service refused the request before processing it, and new authorization would help. The request is then
   * sent a second time, which still counts as a single attempt.
   */
  readonly isUnprocessed?: (refusal: ErrorResponse, request: HttpRequest) => boolean;
}

/** A successful response with an unread body. */
export interface ServiceResponse extends HttpResponse {
  /** Redacts the secrets of the request. Use for any part of the body shown to people. */
  readonly scrub: RedactSecrets;
}

/** Sends a request once. Rejects with an error for any response that is not a success. */
export type SendOnce = (request: HttpRequest, signal: AbortSignal) => Promise<ServiceResponse>;

export function createSingleAttemptClient(options: SingleAttemptOptions): SendOnce {
  const { send, authorize, toError, isUnprocessed = () => false } = options;

  async function attempt(request: HttpRequest, signal: AbortSignal, progress: Progress) {
    // A credential source may take any time and cannot be cancelled.
    const authorizedRequest = await waitUnlessAborted(authorizeRequest(authorize, request), signal);
    // Most responses need no redaction, so the redactor is created on use.
    const scrub: RedactSecrets = (value) =>
      createSecretRedactor(collectSecrets(authorizedRequest))(value);
    const response = await send(authorizedRequest, signal);
    progress.isSent = true;
    if (response.status >= 200 && response.status < 300) return { ...response, scrub };
    const refusal = scrubResponse({ ...response, body: await readBodyStart(response) }, scrub);
    return { refusal, isUnprocessed: isUnprocessed(refusal, authorizedRequest) };
  }

  return async (request, signal) => {
    const progress: Progress = { isSent: false };
    try {
      let outcome = await attempt(request, signal, progress);
      if ("refusal" in outcome && outcome.isUnprocessed) {
        outcome = await attempt(request, signal, progress);
      }
      if ("refusal" in outcome) throw toError(outcome.refusal);
      return outcome;
    } catch (error) {
      throw toRequestError(error, request, { signal, isSent: progress.isSent });
    }
  };
}

interface Progress {
  /** True once a response has started: the request was received. */
  isSent: boolean;
}

/** Any failure of a credential source becomes `no_credentials`. */
async function authorizeRequest(
  authorize: SingleAttemptOptions["authorize"],
  request: HttpRequest,
): Promise<HttpRequest> {
  try {
    return await authorize(request);
  } catch (cause) {
    if (cause instanceof SpanlineError) throw cause;
    const message = `The credential source failed: ${formatThrown(cause)}`;
    throw new SpanlineError("no_credentials", message, { cause });
  }
}

function toRequestError(
  error: unknown,
  { url }: HttpRequest,
  { signal, isSent }: { readonly signal: AbortSignal; readonly isSent: boolean },
): unknown {
  const isLost = error instanceof NoResponseError;
  if (signal.aborted) return new AbortError(signal.reason, isSent || (isLost && error.wasSent));
  if (!isLost) return error;
  if (error.wasSent) {
    const message = `The connection to ${url.host} was lost before a response was received: ${error.message}`;
    return createProviderError("connection_lost", message, { phase: "http", cause: error.cause });
  }
  const message = `Cannot connect to ${url.host}: ${error.message}`;
  return createProviderError("connect_failed", message, { phase: "connect", cause: error.cause });
}

/** The credentials in the headers of a request. */
function collectSecrets({ headers }: HttpRequest): string[] {
  return SECRET_HEADERS.flatMap((name) => headers[name]?.split(" ").at(-1) ?? []);
}

const SECRET_HEADERS = ["authorization", "x-amz-security-token", "x-api-key", "api-key"];

/** JSON is redacted after parsing, because the same string can be escaped in many ways. */
function scrubResponse(
  { status, headers, body }: ErrorResponse,
  scrub: RedactSecrets,
): ErrorResponse {
  const parsed = parseJson(body);
  const safe = parsed.ok ? toJsonText(scrub(parsed.value)) : scrub(body);
  return { status, headers: scrub(headers), body: safe };
}

const MAX_ERROR_BYTES = 64 * 1024;

/**
 * Reads the first 64 KiB of an error response, which contain the message. Stopping early closes the connection, and a
 * missing end is harmless.
 */
async function readBodyStart({ body }: HttpResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk.subarray(0, MAX_ERROR_BYTES - length));
      length += chunk.length;
      if (length >= MAX_ERROR_BYTES) break;
    }
  } catch {
    // The status was received, which is enough to report the error.
  }
  return Buffer.concat(chunks).toString("utf8");
}
