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
  /** The caller's own. */
  readonly signal: AbortSignal;
  /** Finds out what to send, where that is not known yet, and sends it. */
  readonly send: (signal: AbortSignal) => Promise<Answer>;
}

/** An answer that has begun, and the guard of its call, which goes on waiting for the first event. */
interface OpenedResponse<Answer> {
  readonly response: Answer;
  readonly guard: InvocationGuard<LimitName>;
}

/** Makes a call within its limits. Rejects as long as there is no answer; whoever reads the answer releases the guard. */
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
  const facts = { phase: "stream", ...omitUndefined({ requestId }) } as const;
  if (guard.reachedLimit === "rest") return null;
  if (guard.reachedLimit !== null)
    return createLimitError(guard.reachedLimit, limits, facts).toFailure();
  const message = `The connection was lost inside the stream: ${formatThrown(error)}`;
  return createProviderError("connection_lost", message, facts).toFailure();
}

/** Says of a failure that the stream itself brought what is known about it here. */
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

/** An answer that is no stream, read whole. */
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
    const message = `The connection was lost inside the answer: ${formatThrown(cause)}`;
    throw createProviderError("connection_lost", message, { phase: "http", cause });
  }
  if (length > MAX_TEXT_BYTES) {
    const message = `The answer is larger than ${MAX_TEXT_BYTES} bytes`;
    throw createProviderError("unexpected_answer", message, { phase: "http" });
  }
  return Buffer.concat(chunks).toString("utf8");
}
