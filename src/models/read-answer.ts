import type { CallGuard } from "../async/call-guard.ts";
import type { Codec } from "../domain/codec.ts";
import type { Failure } from "../domain/errors.ts";
import {
  AbortError,
  providerError,
  type Phase,
  type ProviderError,
} from "../domain/provider-error.ts";
import type { ProviderEvent, TurnEnd } from "../domain/provider-event.ts";
import type { HttpAnswer } from "../platform/http-client.ts";
import type { ModelLimits } from "./model.ts";

/** Reads the body of an answer. */
export interface AnswerCodec<State> extends Codec<State, Uint8Array, ProviderEvent> {
  /** The stream said that nothing more follows; a server that keeps it open all the same is not waited for. */
  isOver?(state: State): boolean;
}

/** `rest` is the time that a stream has to close after it said that it is over. */
export type LimitName = "firstEvent" | "idle" | "rest";

export interface AnswerReading<State> {
  readonly answer: HttpAnswer;
  readonly codec: AnswerCodec<State>;
  readonly guard: CallGuard<LimitName>;
  readonly limits: ModelLimits;
  /** The caller's own. */
  readonly signal: AbortSignal;
  /** What a failure of the stream means. */
  readonly explain: (failure: Failure) => Failure;
}

/**
 * Reads an answer as it comes, no faster than it is taken. Leaving early closes the connection. The guard is already
 * waiting for the first event.
 */
export async function* readAnswer<State>(
  reading: AnswerReading<State>,
): AsyncGenerator<ProviderEvent> {
  const { answer, codec, guard, limits, explain } = reading;
  const state = codec.initial();
  let events: ProviderEvent[] = [];
  const emit = (event: ProviderEvent): void => void events.push(event);
  const next = chunkReader(reading);
  let isFirst = true;
  try {
    let read = await next();
    for (; read.type === "chunk"; read = await next()) {
      codec.step(state, read.chunk, emit);
      isFirst &&= events.length === 0;
      if (!isFirst) guard.rest();
      yield* events;
      events = [];
      if (codec.isOver?.(state) === true) guard.wait("rest", REST_MILLISECONDS);
      else if (!isFirst) guard.wait("idle", milliseconds(limits, "idle"));
    }
    codec.finish(state, emit);
    for (const event of events) {
      yield event.type === "end" ? explained(event, read.failure, explain) : event;
    }
  } finally {
    guard.release();
    answer.close();
  }
}

const REST_MILLISECONDS = 1000;

type Read =
  | { readonly type: "chunk"; readonly chunk: Uint8Array }
  | { readonly type: "end"; readonly failure: Failure | null };

function chunkReader<State>(reading: AnswerReading<State>): () => Promise<Read> {
  const chunks = reading.answer.body[Symbol.asyncIterator]();
  return async () => {
    try {
      const { done, value } = await chunks.next();
      return done === true ? { type: "end", failure: null } : { type: "chunk", chunk: value };
    } catch (error) {
      return { type: "end", failure: brokenBy(reading, error) };
    }
  };
}

function brokenBy<State>(
  { guard, limits, signal }: AnswerReading<State>,
  error: unknown,
): Failure | null {
  if (signal.aborted) throw new AbortError(signal.reason);
  if (guard.reached === "rest") return null;
  if (guard.reached !== null) return limitError(guard.reached, limits, "stream").toFailure();
  const reason = error instanceof Error ? error.message : String(error);
  const message = `The connection was lost inside the answer: ${reason}`;
  return providerError("connection_lost", message, { phase: "stream" }).toFailure();
}

/** A message that was whole before the connection broke is whole. One that was cut was cut by that. */
function explained(
  end: TurnEnd,
  broken: Failure | null,
  explain: (failure: Failure) => Failure,
): TurnEnd {
  const { failure } = end;
  if (failure === undefined) return end;
  return { ...end, failure: explain(broken !== null && CUT.has(failure.code) ? broken : failure) };
}

const CUT: ReadonlySet<Failure["code"]> = new Set(["incomplete_turn", "truncated_stream"]);

export function limitError(
  name: Exclude<LimitName, "rest">,
  limits: ModelLimits,
  phase: Phase,
): ProviderError {
  const seconds = (milliseconds(limits, name) ?? 0) / 1000;
  return name === "firstEvent"
    ? providerError("first_event_timeout", `The model said nothing for ${seconds} s`, { phase })
    : providerError("idle_timeout", `The model fell silent for ${seconds} s`, { phase });
}

export function milliseconds(limits: ModelLimits, name: keyof ModelLimits): number | undefined {
  const limit = limits[name] ?? DEFAULT_LIMITS[name];
  return Number.isFinite(limit) ? limit : undefined;
}

const DEFAULT_LIMITS = { firstEvent: 300_000, idle: 120_000 } as const;
