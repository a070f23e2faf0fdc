import { type InvocationGuard, guardInvocation, type Timer } from "../async/invocation-guard.ts";
import type { Codec } from "../domain/codec.ts";
import { formatThrown, type Failure } from "../domain/errors.ts";
import { AbortError, createProviderError } from "../domain/provider/provider-error.ts";
import type { ProviderEvent } from "../domain/provider/provider-event.ts";
import type { HttpResponse } from "../platform/http-client.ts";
import { createLimitError, type LimitName, type TimeLimits } from "./time-limits.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

interface OpenResponseOptions<Answer> {
  readonly clock: Timer;
  readonly limits: TimeLimits;
  /** The signal of the caller. */
  readonly signal: AbortSignal;
  /** Resolves the request, if needed, and sends it. */
  readonly send: (signal: AbortSignal) => Promise<Answer>;
}

/** A started response with its guard, which is still waiting for the first event. */
interface OpenedResponse<Answer> {
  readonly response: Answer;
  readonly guard: InvocationGuard<LimitName>;
}

/**
 * Sends a request within its limits. Rejects until there is a response. The reader of the response must release the
 * guard.
 */
export async function openResponse<Answer>(
  options: OpenResponseOptions<Answer>,
): Promise<OpenedResponse<Answer>> {
  const { clock, limits, signal, send } = options;
  const total = { limit: "total", milliseconds: limits.total } as const;
  const guard = guardInvocation<LimitName>(clock, signal, total);
  guard.startWait("firstEvent", limits.firstEvent);
  try {
    return { response: await send(guard.signal), guard };
  } catch (error) {
    guard.release();
    const wasSent = error instanceof AbortError && error.wasSent;
    if (guard.reachedLimit !== null && guard.reachedLimit !== "rest")
      throw createLimitError(guard.reachedLimit, limits, { phase: wasSent ? "http" : "connect" });
    throw signal.aborted ? new AbortError(signal.reason, wasSent) : error;
  }
}

export interface ReadStreamOptions<Event> {
  readonly response: HttpResponse;
  /** The request id assigned by the service. */
  readonly requestId: string | undefined;
  readonly codec: Codec<unknown, Uint8Array, Event>;
  /** Already waiting for the first event. */
  readonly guard: InvocationGuard<LimitName>;
  readonly limits: TimeLimits;
  /** The signal of the caller. */
  readonly signal: AbortSignal;
  /** Receives the bytes before they are decoded. */
  readonly tap?: (chunk: Uint8Array) => void;
  /**
   * How long a finished stream may take to close its connection, which can then be reused. Milliseconds. Default: 0.
   */
  readonly closeGraceMs?: number;
  /** Returns the last events of a stream that failed for another reason than invalid bytes. */
  readonly finishBroken: (events: readonly Event[], failure: Failure) => readonly Event[];
}

/**
 * Decodes a response while it is received. A single loop reads and yields: so reading never outruns the consumer,
 * and stopping early closes the connection.
 */
export async function* readStream<Event>(options: ReadStreamOptions<Event>): AsyncGenerator<Event> {
  const { response, codec, guard, limits, tap, closeGraceMs = 0 } = options;
  const countsBytes = limits.idleCounts === "bytes";
  const chunks = response.body[Symbol.asyncIterator]();
  const state = codec.initial();
  let events: Event[] = [];
  const emit = (event: Event): void => void events.push(event);
  let hasBegun = false;
  let failure: Failure | null = null;
  try {
    for (;;) {
      const read = await readChunk(chunks, options);
      if (read.type !== "chunk") {
        failure = read.failure;
        break;
      }
      tap?.(read.chunk);
      codec.step(state, read.chunk, emit);
      if (events.length > 0) {
        // The consumer's processing time does not count as silence of the other side.
        guard.stopWait();
        for (const event of events) yield event;
        events = [];
        hasBegun = true;
        guard.startWait("idle", limits.idle);
      } else if (hasBegun && countsBytes) guard.startWait("idle", limits.idle);
      if (codec.isOver?.(state) !== true) continue;
      if (closeGraceMs === 0) break;
      guard.startWait("rest", closeGraceMs);
    }
    codec.finish(state, emit);
    for (const event of failure === null ? events : options.finishBroken(events, failure))
      yield event;
  } finally {
    guard.release();
    response.close();
  }
}

type ReadResult =
  | { readonly type: "chunk"; readonly chunk: Uint8Array }
  | { readonly type: "end"; readonly failure: Failure | null };

async function readChunk<Event>(
  chunks: AsyncIterator<Uint8Array>,
  options: ReadStreamOptions<Event>,
): Promise<ReadResult> {
  try {
    const { done, value } = await chunks.next();
    if (done !== true) return { type: "chunk", chunk: value };
    // Node also reports the end of a response whose rest was discarded by an abort.
    const isAborted = options.guard.signal.aborted;
    return { type: "end", failure: isAborted ? toStreamFailure(options, null) : null };
  } catch (error) {
    return { type: "end", failure: toStreamFailure(options, error) };
  }
}

/** The reason why a stream failed. Null if the stream was already finished. Throws only if the caller aborted. */
function toStreamFailure<Event>(
  { requestId, guard, limits, signal }: ReadStreamOptions<Event>,
  error: unknown,
): Failure | null {
  if (signal.aborted) throw new AbortError(signal.reason);
  const facts = { phase: "stream", ...omitUndefined({ requestId }) } as const;
  if (guard.reachedLimit === "rest") return null;
  if (guard.reachedLimit !== null)
    return createLimitError(guard.reachedLimit, limits, facts).toFailure();
  const message = `The connection was lost during the stream: ${formatThrown(error)}`;
  return createProviderError("connection_lost", message, facts).toFailure();
}

/** Adds local information to a failure reported by the stream itself. */
export function endWithFailure<State>(
  codec: Codec<State, Uint8Array, ProviderEvent>,
  explain: (failure: Failure) => Failure,
): Codec<State, Uint8Array, ProviderEvent> {
  return {
    ...codec,
    finish(state, emit) {
      codec.finish(state, (event) => {
        if (event.type !== "end" || event.failure === undefined) return emit(event);
        emit({ ...event, failure: explain(event.failure) });
      });
    },
  };
}

const MAX_TEXT_BYTES = 16 * 1024 * 1024;

/** Reads the whole body of a response that is not a stream. Limit: 16 MiB. */
export async function readResponseText(response: HttpResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of response.body) {
      length += chunk.length;
      if (length > MAX_TEXT_BYTES) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    const message = `The connection was lost during the response: ${formatThrown(cause)}`;
    throw createProviderError("connection_lost", message, { phase: "http", cause });
  }
  if (length > MAX_TEXT_BYTES) {
    const message = `The response is larger than ${MAX_TEXT_BYTES} bytes`;
    throw createProviderError("unexpected_answer", message, { phase: "http" });
  }
  return Buffer.concat(chunks).toString("utf8");
}
