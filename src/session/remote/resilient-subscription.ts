import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { Cursor } from "../../domain/events/envelope.ts";
import type { EventBatch } from "../../store/log-store.ts";
import { type OwnerConnection, OwnerGoneError } from "./owner-connection.ts";

export interface SubscriptionOptions {
  readonly sessionId: string;
  readonly cursor: Cursor | undefined;
  readonly signal: AbortSignal;
  readonly connect: () => Promise<OwnerConnection>;
  /** Called with every event before the subscriber receives it. */
  readonly onEvent: (event: SessionEvent) => void;
}

/**
 * A subscription which resumes at its cursor with the next owner. Batches pass through a single promise step, without a
 * buffer.
 */
export function createResilientSubscription({
  sessionId,
  cursor,
  signal,
  connect,
  onEvent,
}: SubscriptionOptions): AsyncIterator<EventBatch> {
  let current:
    | { readonly batches: AsyncIterator<EventBatch>; readonly gone: AbortSignal }
    | undefined;
  let last: EventBatch | undefined;
  let isStopped = false;

  const subscribe = async (): Promise<IteratorResult<EventBatch>> => {
    if (signal.aborted || isStopped) return END_OF_STREAM;
    const { sessions, closed } = await connect();
    if (isStopped) return END_OF_STREAM;
    const from = last === undefined ? cursor : advanceCursor(last, cursor);
    const batches = sessions.subscribe(sessionId, from, signal)[Symbol.asyncIterator]();
    current = { batches, gone: closed };
    return next();
  };
  const isOwnerGone = (): boolean => current?.gone.aborted === true;
  const receiveResult = (
    result: IteratorResult<EventBatch>,
  ): IteratorResult<EventBatch> | Promise<IteratorResult<EventBatch>> => {
    if (result.done === true) return isOwnerGone() ? subscribe() : result;
    last = result.value;
    for (const { event } of last.events) onEvent(event);
    return result;
  };
  const resumeAfterError = (error: unknown): Promise<IteratorResult<EventBatch>> => {
    if (!(error instanceof OwnerGoneError) && !isOwnerGone()) throw error;
    return subscribe();
  };
  const next = (): Promise<IteratorResult<EventBatch>> =>
    current === undefined
      ? subscribe()
      : current.batches.next().then(receiveResult, resumeAfterError);

  return {
    next,
    async return() {
      isStopped = true;
      await current?.batches.return?.();
      return END_OF_STREAM;
    },
  };
}

const END_OF_STREAM = { done: true, value: undefined } as const;

function advanceCursor(
  { incarnation, events }: EventBatch,
  previous: Cursor | undefined,
): Cursor | undefined {
  const seq = events.at(-1)?.seq;
  return seq === undefined ? previous : { incarnation, seq };
}
