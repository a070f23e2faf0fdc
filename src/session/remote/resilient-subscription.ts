import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { Cursor } from "../../domain/events/envelope.ts";
import type { EventBatch } from "../../store/log-store.ts";
import type { Sessions } from "../sessions.ts";
import { type OwnerConnection, OwnerGoneError } from "./owner-connection.ts";

export interface SubscriptionOptions {
  readonly sessionId: string;
  readonly cursor: Cursor | undefined;
  readonly signal: AbortSignal;
  readonly connect: () => Promise<OwnerConnection>;
  /** Called with every event before the subscriber receives it. */
  readonly onEvent: (event: SessionEvent) => void;
}

/** A subscription which resumes at its cursor with the next owner. */
export function createResilientSubscription({
  sessionId,
  cursor,
  signal,
  connect,
  onEvent,
}: SubscriptionOptions): AsyncIterator<EventBatch> {
  let last: EventBatch | undefined;
  return createResilientStream({
    signal,
    connect,
    open(sessions) {
      const from = last === undefined ? cursor : advanceCursor(last, cursor);
      return sessions.subscribe(sessionId, from, signal);
    },
    onItem(batch) {
      last = batch;
      for (const { event } of batch.events) onEvent(event);
    },
  });
}

export interface StreamOptions<Item> {
  readonly signal: AbortSignal;
  readonly connect: () => Promise<OwnerConnection>;
  /** Opens the stream with an owner: with the first, and with the next after each loss. */
  readonly open: (sessions: Sessions) => AsyncIterable<Item>;
  /** Called with every item before the reader receives it. */
  readonly onItem?: (item: Item) => void;
}

/** A stream which continues with the next owner. Items pass through a single promise step, without a buffer. */
export function createResilientStream<Item>({
  signal,
  connect,
  open,
  onItem,
}: StreamOptions<Item>): AsyncIterator<Item> {
  let current: { readonly items: AsyncIterator<Item>; readonly gone: AbortSignal } | undefined;
  let isStopped = false;

  const subscribe = async (): Promise<IteratorResult<Item>> => {
    if (signal.aborted || isStopped) return END_OF_STREAM;
    const { sessions, closed } = await connect();
    if (isStopped) return END_OF_STREAM;
    current = { items: open(sessions)[Symbol.asyncIterator](), gone: closed };
    return next();
  };
  const isOwnerGone = (): boolean => current?.gone.aborted === true;
  const receiveResult = (
    result: IteratorResult<Item>,
  ): IteratorResult<Item> | Promise<IteratorResult<Item>> => {
    if (result.done === true) return isOwnerGone() ? subscribe() : result;
    onItem?.(result.value);
    return result;
  };
  const resumeAfterError = (error: unknown): Promise<IteratorResult<Item>> => {
    if (!(error instanceof OwnerGoneError) && !isOwnerGone()) throw error;
    return subscribe();
  };
  const next = (): Promise<IteratorResult<Item>> =>
    current === undefined
      ? subscribe()
      : current.items.next().then(receiveResult, resumeAfterError);

  return {
    next,
    async return() {
      isStopped = true;
      await current?.items.return?.();
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
