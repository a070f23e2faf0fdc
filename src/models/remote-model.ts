import { pause } from "../async/pause.ts";
import type { Codec } from "../domain/codec.ts";
import type { ErrorAnswer } from "../domain/error-answer.ts";
import type { Failure } from "../domain/errors.ts";
import type { ModelDialect } from "../domain/model-dialect.ts";
import type { ModelRequest } from "../domain/model-request.ts";
import { AbortError, errorOf, providerError, ProviderError } from "../domain/provider-error.ts";
import type { ProviderEvent } from "../domain/provider-event.ts";
import { scrubber } from "../domain/scrubber.ts";
import { systemClock, type Clock } from "../platform/clock.ts";
import { httpClient, type HttpBody, type HttpRequest } from "../platform/http-client.ts";
import { randomFraction } from "../platform/random.ts";
import type { CallOnce, OnceCallerOptions } from "../remote/once-caller.ts";
import { openAnswer } from "../remote/open-answer.ts";
import { readStream } from "../remote/read-stream.ts";
import { waitsOf } from "../remote/retry-policy.ts";
import { limitsOr } from "../remote/time-limits.ts";
import { withFailure } from "../remote/with-failure.ts";
import { isWorthAnother, waitSeen } from "./another-attempt.ts";
import { begunAnswer, type BegunAnswer } from "./begun-answer.ts";
import { brokenAnswer } from "./broken-answer.ts";
import type { Model, ModelSettings, ModelWatch } from "./model.ts";
import { requestEncoder } from "./request-encoder.ts";

/** What sets one API of models apart from another. */
export interface RemoteApi<State> {
  readonly name: string;
  readonly url: URL;
  readonly headers: { readonly [name: string]: string };
  /** Knows how the API wants its requests authorized. */
  readonly callerWith: (options: CallerParts) => CallOnce;
  /** What must not be shown to anybody, whatever the server echoes. */
  readonly secrets: readonly string[];
  readonly dialect: ModelDialect;
  readonly codecFor: (contentType: string | undefined) => Codec<State, Uint8Array, ProviderEvent>;
  readonly errorFor: (refusal: ErrorAnswer) => ProviderError;
  readonly explain: (failure: Failure, requestId: string | undefined) => Failure;
  readonly requestIdHeader: string;
  /** What to do when nobody answers at the address. */
  readonly connectHint?: string;
}

export interface CallerParts extends Pick<OnceCallerOptions, "send" | "errorFor"> {
  readonly clock: Clock;
}

/** A model behind an API that streams its answers over HTTP. */
export function remoteModel<State>(api: RemoteApi<State>, settings: ModelSettings): Model {
  const { clock = systemClock, random = randomFraction, maxAttempts = 3 } = settings;
  const { send = httpClient().send } = settings;
  const limits = limitsOr(settings.limits ?? {}, DEFAULT_LIMITS);
  const scrub = scrubber([...api.secrets, ...Object.values(settings.headers ?? {})]);
  const errorFor = (refusal: ErrorAnswer): Error => api.errorFor(scrub(refusal));
  const callOnce = api.callerWith({ send, errorFor, clock });
  const hasTime = (wait: number): boolean => wait <= LONGEST_WAIT;
  const waits = { maxAttempts, waits: WAITS, random, isPassing: isWorthAnother, hasTime };
  const waitAfter = waitsOf(waits);
  const encode = requestEncoder(api.dialect, settings.body);

  /** Made once. What it rejects with came before there was an answer. */
  async function attempt(
    sent: HttpRequest,
    signal: AbortSignal,
    { tap, answered }: ModelWatch,
  ): Promise<BegunAnswer> {
    const { guard, answer } = await openAnswer({
      clock,
      limits,
      signal,
      send: (ending) => callOnce({ ...sent, connectMilliseconds: limits.connect }, ending),
    }).catch(hinted(api.connectHint));
    const requestId = answer.headers[api.requestIdHeader];
    answered?.(requestId);
    const explain = (failure: Failure): Failure => scrub(api.explain(failure, requestId));
    const reading = {
      answer,
      requestId,
      codec: withFailure(api.codecFor(answer.headers["content-type"]), explain),
      guard,
      limits,
      signal,
      restMilliseconds: REST_MILLISECONDS,
      broken: (events: readonly ProviderEvent[], failure: Failure) =>
        brokenAnswer(events, explain(failure)),
    };
    return begunAnswer(readStream(tap === undefined ? reading : { ...reading, tap }));
  }

  async function* call(
    request: ModelRequest,
    signal: AbortSignal,
    watch: ModelWatch = {},
  ): AsyncGenerator<ProviderEvent> {
    const sent = httpRequest(api, settings, { trace: request.trace, body: encode(request) });
    for (let made = 1; ; made += 1) {
      const { error, events } = await outcomeOf(attempt(sent, signal, watch));
      const wait = error === undefined ? undefined : waitAfter(error, made);
      if (wait === undefined) {
        if (events === undefined) throw error;
        return yield* events;
      }
      yield waitSeen(error, wait);
      await pause(clock, wait, signal).catch((reason: unknown) => {
        throw new AbortError(reason);
      });
    }
  }

  return { name: api.name, call };
}

/** An attempt that failed inside its answer still has events, for whoever makes no other. */
async function outcomeOf(
  attempt: Promise<BegunAnswer>,
): Promise<{ readonly error?: unknown; readonly events?: BegunAnswer["events"] }> {
  try {
    const { events, failure } = await attempt;
    return failure === undefined ? { events } : { events, error: errorOf(failure) };
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

/** In milliseconds. A caller who would rather wait longer can do so himself. */
const LONGEST_WAIT = 60_000;
const WAITS = { first: 500, longest: LONGEST_WAIT } as const;

/** A server that said the last word and keeps the connection open is not waited for any longer. */
const REST_MILLISECONDS = 1000;

function httpRequest<State>(
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

function hinted(hint: string | undefined): (error: unknown) => never {
  return (error) => {
    if (hint === undefined || !(error instanceof ProviderError)) throw error;
    if (error.code !== "connect_failed") throw error;
    const { message, phase, cause } = error;
    throw providerError("connect_failed", `${message}. ${hint}`, { phase, cause });
  };
}
