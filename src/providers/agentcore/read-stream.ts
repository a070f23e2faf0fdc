import type { Codec } from "../../domain/codec.ts";
import type { Failure } from "../../domain/errors.ts";
import { AbortError, providerError } from "../../domain/provider-error.ts";
import type { Clock } from "../../platform/clock.ts";
import type { HttpAnswer } from "../../platform/http-client.ts";
import { limitError, milliseconds, type CallLimits, type Guard } from "./limits.ts";

export interface StreamReading<Event> {
  readonly answer: HttpAnswer;
  readonly codec: Codec<unknown, Uint8Array, Event>;
  readonly guard: Guard;
  readonly clock: Clock;
  readonly limits: CallLimits;
  /** The caller's own. */
  readonly signal: AbortSignal;
  /** Sees the bytes before they are read. */
  readonly tap?: (chunk: Uint8Array) => void;
  /** Gives the last events of a stream that broke for another reason than its bytes. */
  readonly broken: (events: readonly Event[], failure: Failure) => readonly Event[];
}

/**
 * Reads an answer as it comes. No more is read than the consumer takes, and leaving early closes the connection, because
 * both happen to the one loop below.
 */
export async function* readStream<Event>(reading: StreamReading<Event>): AsyncGenerator<Event> {
  const { answer, codec, guard, tap } = reading;
  const state = codec.initial();
  let events: Event[] = [];
  const emit = (event: Event): void => void events.push(event);
  const next = chunkReader(reading);
  let failure: Failure | null = null;
  try {
    for (;;) {
      const read = await next(events.length > 0);
      events = [];
      if (read.type !== "chunk") {
        failure = read.failure;
        break;
      }
      tap?.(read.chunk);
      codec.step(state, read.chunk, emit);
      if (events.length > 0) guard.rest();
      for (const event of events) yield event;
      if (codec.isOver?.(state) === true) {
        events = [];
        break;
      }
    }
    codec.finish(state, emit);
    for (const event of failure === null ? events : reading.broken(events, failure)) yield event;
  } finally {
    guard.release();
    answer.close();
  }
}

type Read =
  | { readonly type: "chunk"; readonly chunk: Uint8Array }
  | { readonly type: "end"; readonly failure: Failure | null };

/** Gets the next piece within what is left of the time for it. The consumer's own time does not count. */
function chunkReader<Event>(reading: StreamReading<Event>): (eventful: boolean) => Promise<Read> {
  const { answer, guard, clock, limits } = reading;
  const chunks = answer.body[Symbol.asyncIterator]();
  const idle = milliseconds(limits, "idle");
  let isFirst = true;
  let left = idle;

  return async (eventful) => {
    isFirst &&= !eventful;
    if (eventful || limits.idleCounts !== "events") left = idle;
    // The time for the first event began when the request was sent.
    if (!isFirst) guard.wait("idle", left);
    const from = clock.now();
    try {
      const { done, value } = await chunks.next();
      if (!isFirst) guard.rest();
      if (left !== undefined) left = Math.max(0, left - (clock.now() - from));
      if (done !== true) return { type: "chunk", chunk: value };
      // Node tells the end of an answer, too, whose rest it threw away because it was ended.
      const isEnded = guard.signal.aborted;
      return { type: "end", failure: isEnded ? streamFailure(reading, null) : null };
    } catch (error) {
      return { type: "end", failure: streamFailure(reading, error) };
    }
  };
}

/** Why a stream broke. Only the caller's own abort is thrown. */
function streamFailure<Event>(
  { answer, guard, limits, signal }: StreamReading<Event>,
  error: unknown,
): Failure {
  if (signal.aborted) throw new AbortError(signal.reason);
  const facts = { phase: "stream", ...requestIdOf(answer) } as const;
  if (guard.reached !== null) return limitError(guard.reached, limits, facts).toFailure();
  const reason = error instanceof Error ? error.message : String(error);
  const message = `The connection was lost inside the stream: ${reason}`;
  return providerError("connection_lost", message, facts).toFailure();
}

export function requestIdOf({ headers }: HttpAnswer): { readonly requestId?: string } {
  const id = headers["x-amzn-requestid"];
  return id === undefined ? {} : { requestId: id };
}
