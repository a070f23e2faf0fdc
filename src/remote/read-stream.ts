import type { InvocationGuard } from "../async/invocation-guard.ts";
import type { Codec } from "../domain/codec.ts";
import { formatThrown, type Failure } from "../domain/errors.ts";
import { AbortError, createProviderError } from "../domain/provider/provider-error.ts";
import type { HttpResponse } from "../platform/http-client.ts";
import { createLimitError, type LimitName, type TimeLimits } from "./time-limits.ts";

export interface ReadStreamOptions<Event> {
  readonly response: HttpResponse;
  /** The service's own id of the call. */
  readonly requestId: string | undefined;
  readonly codec: Codec<unknown, Uint8Array, Event>;
  /** Already waits for the first event. */
  readonly guard: InvocationGuard<LimitName>;
  readonly limits: TimeLimits;
  /** The caller's own. */
  readonly signal: AbortSignal;
  /** Sees the bytes before they are read. */
  readonly tap?: (chunk: Uint8Array) => void;
  /** How long a stream that said that it is over has to close, so that its connection serves again; no time unless said. */
  readonly closeGraceMs?: number;
  /** Gives the last events of a stream that broke for another reason than its bytes. */
  readonly finishBroken: (events: readonly Event[], failure: Failure) => readonly Event[];
}

/**
 * Reads an answer as it comes. No more is read than the consumer takes, and leaving early closes the connection, because
 * both happen to the one loop below.
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
        // How long the consumer takes is not the other side's silence.
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
    // Node tells the end of an answer, too, whose rest it threw away because it was ended.
    const isAborted = options.guard.signal.aborted;
    return { type: "end", failure: isAborted ? toStreamFailure(options, null) : null };
  } catch (error) {
    return { type: "end", failure: toStreamFailure(options, error) };
  }
}

/** Why a stream broke; null when nothing more was to come. Only the caller's own abort is thrown. */
function toStreamFailure<Event>(
  { requestId, guard, limits, signal }: ReadStreamOptions<Event>,
  error: unknown,
): Failure | null {
  if (signal.aborted) throw new AbortError(signal.reason);
  const facts = { phase: "stream", ...(requestId !== undefined && { requestId }) } as const;
  if (guard.reachedLimit === "rest") return null;
  if (guard.reachedLimit !== null)
    return createLimitError(guard.reachedLimit, limits, facts).toFailure();
  const message = `The connection was lost inside the stream: ${formatThrown(error)}`;
  return createProviderError("connection_lost", message, facts).toFailure();
}
