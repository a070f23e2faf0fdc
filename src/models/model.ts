import type { JsonObject } from "../data/json.ts";
import type { ModelRequest } from "../domain/model/model-request.ts";
import type { ProviderEvent } from "../domain/provider/provider-event.ts";
import type { Clock } from "../platform/clock.ts";
import type { SendHttp } from "../platform/http-client.ts";

/**
 * A model as a function: a conversation in, the events of one message out, and nothing else happens. So a call may be
 * made again as long as nothing of its answer was seen.
 */
export interface Model {
  /** What people call it, such as `ollama:qwen3`. */
  readonly name: string;
  /**
   * What goes wrong before there is an answer is thrown as a `SpanlineError`; after that it is the failure of the `end`
   * event. The caller's own abort is always thrown. A wait before another attempt is told as an `activity`, when it begins.
   */
  stream(
    request: ModelRequest,
    signal: AbortSignal,
    observer?: ModelObserver,
  ): AsyncIterable<ProviderEvent>;
}

/** For whoever wants to know more of a call than its events. */
export interface ModelObserver {
  /** Sees the bytes of the answer before they are read. */
  readonly tap?: (chunk: Uint8Array) => void;
  /** Told when an answer begins, with the server's own id of the call, if it gave one. */
  readonly onResponse?: (requestId: string | undefined) => void;
}

/** How long a model may take, in milliseconds. `Infinity` is no limit. */
export interface ModelLimits {
  /** Until there is a connection. */
  readonly connect?: number;
  /** From sending the request to the first event. A model on this machine may have to be loaded first. */
  readonly firstEvent?: number;
  /** Between two pieces of the answer, keep-alives among them. */
  readonly idle?: number;
  /** All of an answer; no limit unless it is said. */
  readonly total?: number;
}

/** What every model that is reached over HTTP can be told. */
export interface ModelSettings {
  readonly send?: SendHttp;
  readonly clock?: Clock;
  /** Gives numbers from 0 up to 1, to spread the attempts of many callers. */
  readonly random?: () => number;
  readonly limits?: ModelLimits;
  /** How often a call is made while it finds no connection, a busy server or one that fails. */
  readonly maxAttempts?: number;
  /** Sent with every request, for gateways that want more than a key. */
  readonly headers?: { readonly [name: string]: string };
  /** Members of the request's body beside ours, for what a model can be told and we have no word for. */
  readonly body?: JsonObject;
  /** Text and arguments kept of one answer, in characters. */
  readonly maxCharacters?: number;
}
