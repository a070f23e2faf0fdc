import type { CallGuard } from "../async/call-guard.ts";
import type { Codec } from "../domain/codec.ts";
import { thrownMessage, type Failure } from "../domain/errors.ts";
import { AbortError, providerError } from "../domain/provider-error.ts";
import type { HttpAnswer } from "../platform/http-client.ts";
import { limitError, type LimitName, type TimeLimits } from "./time-limits.ts";

export interface StreamReading<Event> {
  readonly answer: HttpAnswer;
  /** The service's own id of the call. */
  readonly requestId: string | undefined;
  readonly codec: Codec<unknown, Uint8Array, Event>;
  /** Already waits for the first event. */
  readonly guard: CallGuard<LimitName>;
  readonly limits: TimeLimits;
  /** The caller's own. */
  readonly signal: AbortSignal;
  /** Sees the bytes before they are read. */
  readonly tap?: (chunk: Uint8Array) => void;
  /** How long a stream that said that it is over has to close, so that its connection serves again; no time unless said. */
  readonly restMilliseconds?: number;
  /** Gives the last events of a stream that broke for another reason than its bytes. */
  readonly broken: (events: readonly Event[], failure: Failure) => readonly Event[];
}

/**
 * Reads an answer as it comes. No more is read than the consumer takes, and leaving early closes the connection, because
 * both happen to the one loop below.
 */
export async function* readStream<Event>(reading: StreamReading<Event>): AsyncGenerator<Event> {
  const { answer, codec, guard, limits, tap, restMilliseconds = 0 } = reading;
  const countsBytes = limits.idleCounts === "bytes";
  const chunks = answer.body[Symbol.asyncIterator]();
  const state = codec.initial();
  let events: Event[] = [];
  const emit = (event: Event): void => void events.push(event);
  let hasBegun = false;
  let failure: Failure | null = null;
  try {
    for (;;) {
      const read = await readChunk(chunks, reading);
      if (read.type !== "chunk") {
        failure = read.failure;
        break;
      }
      tap?.(read.chunk);
      codec.step(state, read.chunk, emit);
      if (events.length > 0) {
        // How long the consumer takes is not the other side's silence.
        guard.rest();
        for (const event of events) yield event;
        events = [];
        hasBegun = true;
        guard.wait("idle", limits.idle);
      } else if (hasBegun && countsBytes) guard.wait("idle", limits.idle);
      if (codec.isOver?.(state) !== true) continue;
      if (restMilliseconds === 0) break;
      guard.wait("rest", restMilliseconds);
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

async function readChunk<Event>(
  chunks: AsyncIterator<Uint8Array>,
  reading: StreamReading<Event>,
): Promise<Read> {
  try {
    const { done, value } = await chunks.next();
    if (done !== true) return { type: "chunk", chunk: value };
    // Node tells the end of an answer, too, whose rest it threw away because it was ended.
    const isEnded = reading.guard.signal.aborted;
    return { type: "end", failure: isEnded ? streamFailure(reading, null) : null };
  } catch (error) {
    return { type: "end", failure: streamFailure(reading, error) };
  }
}

/** Why a stream broke; null when nothing more was to come. Only the caller's own abort is thrown. */
function streamFailure<Event>(
  { requestId, guard, limits, signal }: StreamReading<Event>,
  error: unknown,
): Failure | null {
  if (signal.aborted) throw new AbortError(signal.reason);
  const facts = { phase: "stream", ...(requestId !== undefined && { requestId }) } as const;
  if (guard.reached === "rest") return null;
  if (guard.reached !== null) return limitError(guard.reached, limits, facts).toFailure();
  const message = `The connection was lost inside the stream: ${thrownMessage(error)}`;
  return providerError("connection_lost", message, facts).toFailure();
}
