import { guardCall, type CallGuard } from "../async/call-guard.ts";
import type { ErrorAnswer } from "../domain/error-answer.ts";
import { awsCaller } from "../aws/caller.ts";
import type { Authorize } from "../aws/sign.ts";
import type { Failure } from "../domain/errors.ts";
import { jsonText } from "../domain/json.ts";
import type { ModelRequest } from "../domain/model-request.ts";
import { AbortError, providerError, ProviderError } from "../domain/provider-error.ts";
import type { ProviderEvent } from "../domain/provider-event.ts";
import { scrubber } from "../domain/scrubber.ts";
import { systemClock } from "../platform/clock.ts";
import { httpClient, type HttpAnswer, type HttpRequest } from "../platform/http-client.ts";
import { randomFraction } from "../platform/random.ts";
import type { Model, ModelSettings } from "./model.ts";
import {
  limitError,
  milliseconds,
  readAnswer,
  type AnswerCodec,
  type LimitName,
} from "./read-answer.ts";
import { withRetries } from "./retries.ts";

/** What sets one API of models apart from another. */
export interface RemoteApi<State> {
  readonly name: string;
  readonly url: URL;
  readonly headers: { readonly [name: string]: string };
  readonly authorize: Authorize;
  /** What must not be shown to anybody, whatever the server echoes. */
  readonly secrets: readonly string[];
  readonly bodyFor: (request: ModelRequest) => object;
  readonly codecFor: (contentType: string | undefined) => AnswerCodec<State>;
  readonly errorFor: (refusal: ErrorAnswer) => ProviderError;
  readonly explain: (failure: Failure, requestId: string | undefined) => Failure;
  readonly requestIdHeader: string;
  /** What to do when nobody answers at the address. */
  readonly connectHint?: string;
}

/** A model behind an API that streams its answers over HTTP. */
export function remoteModel<State>(api: RemoteApi<State>, settings: ModelSettings): Model {
  const { clock = systemClock, random = randomFraction, limits = {}, maxAttempts = 3 } = settings;
  const { send = httpClient().send } = settings;
  const { authorize, secrets } = api;
  const scrub = scrubber([...secrets, ...Object.values(settings.headers ?? {})]);
  const errorFor = (refusal: ErrorAnswer): Error => api.errorFor(scrub(refusal));
  const caller = awsCaller({ send, authorize, clock, errorFor });

  async function open(sent: HttpRequest, signal: AbortSignal): Promise<Opened> {
    const whole = { limit: "firstEvent", milliseconds: undefined } as const;
    const guard = guardCall<LimitName>(clock, signal, whole);
    guard.wait("firstEvent", milliseconds(limits, "firstEvent"));
    try {
      return { guard, answer: await caller(sent, guard.signal) };
    } catch (error) {
      guard.release();
      if (signal.aborted) throw new AbortError(signal.reason);
      if (guard.reached !== null) throw limitError("firstEvent", limits, "http");
      throw hinted(error, api.connectHint);
    }
  }

  async function* call(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ProviderEvent> {
    const sent = httpRequest(api, settings, request);
    const policy = { clock, random, maxAttempts };
    const { guard, answer } = await withRetries(policy, signal, () => open(sent, signal));
    const explain = (failure: Failure): Failure =>
      scrub(api.explain(failure, answer.headers[api.requestIdHeader]));
    const codec = api.codecFor(answer.headers["content-type"]);
    yield* readAnswer({ answer, codec, guard, limits, signal, explain });
  }

  return { name: api.name, call };
}

interface Opened {
  readonly guard: CallGuard<LimitName>;
  readonly answer: HttpAnswer;
}

function httpRequest<State>(
  { url, headers, bodyFor }: RemoteApi<State>,
  settings: ModelSettings,
  request: ModelRequest,
): HttpRequest {
  const body = { ...bodyFor(request), ...settings.body };
  return {
    method: "POST",
    url,
    headers: { "content-type": "application/json", ...headers, ...settings.headers },
    body: new TextEncoder().encode(jsonText(body)),
  };
}

function hinted(error: unknown, hint: string | undefined): unknown {
  if (!(error instanceof ProviderError) || error.code !== "connect_failed") return error;
  if (hint === undefined) return error;
  const { message, phase, cause } = error;
  return providerError("connect_failed", `${message}. ${hint}`, { phase, cause });
}
