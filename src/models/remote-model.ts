import { pause } from "../async/pause.ts";
import { createSecretRedactor, type RedactSecrets } from "../data/secret-redactor.ts";
import type { Codec } from "../domain/codec.ts";
import type { Failure } from "../domain/errors.ts";
import type { ModelDialect } from "../domain/model/model-dialect.ts";
import type { ModelRequest } from "../domain/model/model-request.ts";
import type { ErrorResponse } from "../domain/provider/error-response.ts";
import {
  AbortError,
  toError,
  createProviderError,
  ProviderError,
} from "../domain/provider/provider-error.ts";
import type { ProviderEvent } from "../domain/provider/provider-event.ts";
import { systemClock, type Clock } from "../platform/clock.ts";
import { createHttpClient, type HttpBody, type HttpRequest } from "../platform/http-client.ts";
import { randomFraction } from "../platform/random.ts";
import { endWithFailure, openResponse, readStream } from "../remote/read-response.ts";
import { createRetryDelay } from "../remote/retry-policy.ts";
import type { SendOnce, SingleAttemptOptions } from "../remote/single-attempt-client.ts";
import { mergeLimits, type TimeLimits } from "../remote/time-limits.ts";
import {
  awaitFirstEvent,
  type StartedResponse,
  shouldRetry,
  createRetryActivity,
} from "./await-first-event.ts";
import type { Model, ModelSettings, ModelObserver } from "./model.ts";
import { createRequestEncoder } from "./request-encoder.ts";

/** The differences between the APIs of model vendors. */
export interface RemoteApi<State> {
  readonly name: string;
  readonly url: URL;
  readonly headers: { readonly [name: string]: string };
  /** Creates a client that authorizes requests for this API. */
  readonly createClient: (options: ClientParts) => SendOnce;
  /** Values to redact, in case the server echoes them. */
  readonly secrets: readonly string[];
  readonly dialect: ModelDialect;
  readonly createCodec: (
    contentType: string | undefined,
  ) => Codec<State, Uint8Array, ProviderEvent>;
  readonly toError: (refusal: ErrorResponse) => ProviderError;
  readonly explain: (failure: Failure, requestId: string | undefined) => Failure;
  readonly requestIdHeader: string;
  /** Added to the error message if the connection fails. */
  readonly connectHint?: string;
}

export interface ClientParts extends Pick<SingleAttemptOptions, "send" | "toError"> {
  readonly clock: Clock;
}

/** A model behind an API that streams responses over HTTP. */
export function createRemoteModel<State>(api: RemoteApi<State>, settings: ModelSettings): Model {
  const { clock = systemClock, random = randomFraction, maxAttempts = 3 } = settings;
  const { send = createHttpClient().send } = settings;
  const limits = mergeLimits(settings.limits ?? {}, DEFAULT_LIMITS);
  const scrub = createSecretRedactor([...api.secrets, ...Object.values(settings.headers ?? {})]);
  const toError = (refusal: ErrorResponse): Error => api.toError(scrub(refusal));
  const sendOnce = api.createClient({ send, toError, clock });
  const hasTime = (wait: number): boolean => wait <= MAX_WAIT_MS;
  const retryPolicy = { maxAttempts, backoff: BACKOFF, random, isRetryable: shouldRetry, hasTime };
  const computeDelay = createRetryDelay(retryPolicy);
  const encode = createRequestEncoder(api.dialect, settings.body);
  const client: ModelClient<State> = { api, clock, limits, scrub, sendOnce };

  async function* stream(
    request: ModelRequest,
    signal: AbortSignal,
    observer: ModelObserver = {},
  ): AsyncGenerator<ProviderEvent> {
    const httpRequest = buildHttpRequest(api, settings, {
      trace: request.trace,
      body: encode(request),
    });
    for (let attemptNumber = 1; ; attemptNumber += 1) {
      const { error, events } = await settleAttempt(
        attemptRequest(client, httpRequest, signal, observer),
      );
      const wait = error === undefined ? undefined : computeDelay(error, attemptNumber);
      if (wait === undefined) {
        if (events === undefined) throw error;
        return yield* events;
      }
      yield createRetryActivity(error, wait);
      await pause(clock, wait, signal).catch((reason: unknown) => {
        throw new AbortError(reason);
      });
    }
  }

  return { name: api.name, stream };
}

interface ModelClient<State> {
  readonly api: RemoteApi<State>;
  readonly clock: Clock;
  readonly limits: TimeLimits;
  readonly scrub: RedactSecrets;
  readonly sendOnce: SendOnce;
}

/** Sends a request once. Rejects if there was an error before the response. */
async function attemptRequest<State>(
  { api, clock, limits, scrub, sendOnce }: ModelClient<State>,
  httpRequest: HttpRequest,
  signal: AbortSignal,
  { tap, onResponse }: ModelObserver,
): Promise<StartedResponse> {
  const { guard, response } = await openResponse({
    clock,
    limits,
    signal,
    send: (ending) => sendOnce({ ...httpRequest, connectMilliseconds: limits.connect }, ending),
  }).catch(addConnectHint(api.connectHint));
  const requestId = response.headers[api.requestIdHeader];
  onResponse?.(requestId);
  const explain = (failure: Failure): Failure => scrub(api.explain(failure, requestId));
  const reading = {
    response,
    requestId,
    codec: endWithFailure(api.createCodec(response.headers["content-type"]), explain),
    guard,
    limits,
    signal,
    closeGraceMs: CLOSE_GRACE_MS,
    finishBroken: (events: readonly ProviderEvent[], failure: Failure) =>
      replaceTruncationFailure(events, explain(failure)),
  };
  return awaitFirstEvent(readStream(tap === undefined ? reading : { ...reading, tap }));
}

/**
 * Converts an attempt to a result. A response that failed without output has both an error and events, for callers
 * without another attempt.
 */
async function settleAttempt(
  attempt: Promise<StartedResponse>,
): Promise<{ readonly error?: unknown; readonly events?: StartedResponse["events"] }> {
  try {
    const { events, failure } = await attempt;
    return failure === undefined ? { events } : { events, error: toError(failure) };
  } catch (error) {
    return { error };
  }
}

const DEFAULT_LIMITS = {
  connect: 10_000,
  firstEvent: 300_000,
  idle: 120_000,
  total: Infinity,
  idleCounts: "bytes",
} as const;

/** Milliseconds. If the server requests a longer delay, the request fails; the caller can retry later. */
const MAX_WAIT_MS = 60_000;
const BACKOFF = { first: 500, longest: MAX_WAIT_MS } as const;

/** How long a finished response may keep its connection open. Milliseconds. */
const CLOSE_GRACE_MS = 1000;

function buildHttpRequest<State>(
  { url, headers }: RemoteApi<State>,
  settings: ModelSettings,
  { trace, body }: { readonly trace: ModelRequest["trace"]; readonly body: HttpBody },
): HttpRequest {
  return {
    method: "POST",
    url,
    headers: {
      "content-type": "application/json",
      ...headers,
      ...trace,
      ...settings.headers,
    },
    body,
  };
}

function addConnectHint(hint: string | undefined): (error: unknown) => never {
  return (error) => {
    if (hint === undefined || !(error instanceof ProviderError)) throw error;
    if (error.code !== "connect_failed") throw error;
    const { message, phase, cause } = error;
    throw createProviderError("connect_failed", `${message}. ${hint}`, { phase, cause });
  };
}

/**
 * Keeps a message that was complete before the connection was lost. For an incomplete message, replaces the truncation
 * failure by the connection failure, which is the real cause.
 */
function replaceTruncationFailure(
  events: readonly ProviderEvent[],
  failure: Failure,
): ProviderEvent[] {
  return events.map((event) => {
    const isTruncated =
      event.type === "end" &&
      event.failure !== undefined &&
      TRUNCATION_CODES.has(event.failure.code);
    return isTruncated ? { ...event, failure } : event;
  });
}

const TRUNCATION_CODES: ReadonlySet<Failure["code"]> = new Set([
  "incomplete_turn",
  "truncated_stream",
]);
