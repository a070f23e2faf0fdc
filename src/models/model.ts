import type { JsonObject } from "../data/json.ts";
import type { ModelMessage, ModelRequest } from "../domain/model/model-request.ts";
import type { ProviderEvent } from "../domain/provider/provider-event.ts";
import type { Clock } from "../platform/clock.ts";
import type { SendHttp } from "../platform/http-client.ts";

/**
 * A model as a function: a conversation in, the events of one message out, without side effects. So a request can be
 * repeated until the caller has received output.
 *
 * ```ts
 * const model = modelFromName("ollama:qwen3", process.env);
 * const messages = [{ role: "user", blocks: [{ type: "text", text: "Hello" }] }] as const;
 * for await (const event of model.stream({ messages }, signal)) {
 *   if (event.type === "text.delta") process.stdout.write(event.text);
 * }
 * ```
 */
export interface Model {
  /** The display name, such as `ollama:qwen3`. */
  readonly name: string;
  /**
   * Streams the events of one message. Throws a `SpanlineError` before the response starts; a later failure is part of
   * the `end` event. An abort by the caller is always thrown. A retry is reported as an `activity` event when its delay
   * begins.
   */
  stream(
    request: ModelRequest,
    signal: AbortSignal,
    observer?: ModelObserver,
  ): AsyncIterable<ProviderEvent>;
  /** Counts the tokens of a request's messages. Absent without a tokenizer. Resolves to null if they cannot be counted. */
  countTokens?(messages: readonly ModelMessage[], signal: AbortSignal): Promise<number | null>;
}

/** Callbacks for details of a request beyond its events. */
export interface ModelObserver {
  /** Receives the bytes of the response before they are decoded. */
  readonly tap?: (chunk: Uint8Array) => void;
  /** Called when a response starts. `requestId` is the id assigned by the server, if any. */
  readonly onResponse?: (requestId: string | undefined) => void;
}

/** Timeouts of a model request, in milliseconds. `Infinity` means no limit. */
export interface ModelLimits {
  /** Until the connection is established. Default: 10 seconds. */
  readonly connect?: number;
  /**
   * From sending the request to the first event. Default: 5 minutes, because a local model may have to be loaded first.
   */
  readonly firstEvent?: number;
  /** Between two chunks of the response, including keep-alives. Default: 2 minutes. */
  readonly idle?: number;
  /** The whole response. Default: no limit. */
  readonly total?: number;
}

/** Settings of every model behind HTTP. */
export interface ModelSettings {
  readonly send?: SendHttp;
  readonly clock?: Clock;
  /** Returns a number from 0 up to, but not including, 1. Used for the jitter of retries. */
  readonly random?: () => number;
  readonly limits?: ModelLimits;
  /** Attempts per request if the connection fails or the server is busy or fails. Default: 3. */
  readonly maxAttempts?: number;
  /** Added to every request, for gateways with additional authentication. */
  readonly headers?: { readonly [name: string]: string };
  /** Additional members of the request body, for parameters without an option of their own. */
  readonly body?: JsonObject;
  /** The maximum of text and tool arguments stored per response, in characters. */
  readonly maxCharacters?: number;
}
