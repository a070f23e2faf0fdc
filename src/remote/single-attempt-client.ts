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
  /** Makes a request one that the service lets in. */
  readonly authorize: (request: HttpRequest) => Promise<HttpRequest>;
  /** The error that an answer stands for. */
  readonly toError: (response: ErrorResponse) => Error;
  /**
   * Whether a request was refused before the service looked at it, and would not be if it were authorized anew. It is
   * then sent once more, which is still one call.
   */
  readonly isUnprocessed?: (refusal: ErrorResponse, request: HttpRequest) => boolean;
}

/** An answer that is a success, its body unread. */
export interface ServiceResponse extends HttpResponse {
  /** For whatever of the body is shown to somebody. */
  readonly scrub: RedactSecrets;
}

/** Makes a call once, and rejects with anything but a success. */
export type SendOnce = (request: HttpRequest, signal: AbortSignal) => Promise<ServiceResponse>;

export function createSingleAttemptClient(options: SingleAttemptOptions): SendOnce {
  const { send, authorize, toError, isUnprocessed = () => false } = options;

  async function attempt(request: HttpRequest, signal: AbortSignal, progress: Progress) {
    // A source of credentials takes as long as it takes, and cannot be called off.
    const authorizedRequest = await waitUnlessAborted(
      awaitAuthorization(authorize(request)),
      signal,
    );
    const scrub = createRequestRedactor(authorizedRequest);
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
  /** An answer began, so that the request was heard. */
  isSent: boolean;
}

/** A source that fails in its own way has still brought no credentials. */
async function awaitAuthorization(authorizing: Promise<HttpRequest>): Promise<HttpRequest> {
  try {
    return await authorizing;
  } catch (cause) {
    if (cause instanceof SpanlineError) throw cause;
    const message = `The source of credentials failed: ${formatThrown(cause)}`;
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
    const message = `The connection to ${url.host} was lost before an answer came: ${error.message}`;
    return createProviderError("connection_lost", message, { phase: "http", cause: error.cause });
  }
  const message = `Cannot connect to ${url.host}: ${error.message}`;
  return createProviderError("connect_failed", message, { phase: "connect", cause: error.cause });
}

/** Most responses need no redaction, so the redactor is created on first use. */
function createRequestRedactor(request: HttpRequest): RedactSecrets {
  let redact: RedactSecrets | undefined;
  return (value) => (redact ??= createSecretRedactor(collectSecrets(request)))(value);
}

/** What was secret in a request. */
function collectSecrets({ headers }: HttpRequest): string[] {
  return SECRET_HEADERS.flatMap((name) => headers[name]?.split(" ").at(-1) ?? []);
}

const SECRET_HEADERS = ["authorization", "x-amz-security-token", "x-api-key", "api-key"];

/** JSON is looked at as what it says, since the same text can be written in many ways. */
function scrubResponse(
  { status, headers, body }: ErrorResponse,
  scrub: RedactSecrets,
): ErrorResponse {
  const parsed = parseJson(body);
  const safe = parsed.ok ? toJsonText(scrub(parsed.value)) : scrub(body);
  return { status, headers: scrub(headers), body: safe };
}

const MAX_ERROR_BYTES = 64 * 1024;

/** An error says what it has to say at its start; leaving it there closes the connection, and an end that is missing is no loss. */
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
    // The status has come; that is enough to know what happened.
  }
  return Buffer.concat(chunks).toString("utf8");
}
