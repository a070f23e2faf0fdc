import type { AgentEvent } from "../../domain/agent-event.ts";
import type { Cursor } from "../../domain/envelope.ts";
import type { Batch } from "../../store/store.ts";
import type { Joined } from "./joined.ts";
import { OwnerGoneError } from "./owner-gone-error.ts";

export interface Subscribing {
  readonly sessionId: string;
  readonly cursor: Cursor | undefined;
  readonly signal: AbortSignal;
  readonly joined: () => Promise<Joined>;
  /** Told of every event before whoever subscribed is. */
  readonly heard: (event: AgentEvent) => void;
}

/** A subscription that goes on with the next owner, from where it was. Nothing stands between the two but one step. */
export function lastingSubscription({
  sessionId,
  cursor,
  signal,
  joined,
  heard,
}: Subscribing): AsyncIterator<Batch> {
  let current: { readonly batches: AsyncIterator<Batch>; readonly gone: AbortSignal } | undefined;
  let last: Batch | undefined;
  let isLeft = false;

  const subscribe = async (): Promise<IteratorResult<Batch>> => {
    if (signal.aborted || isLeft) return OVER;
    const { sessions, gone } = await joined();
    if (isLeft) return OVER;
    const from = last === undefined ? cursor : endOf(last, cursor);
    const batches = sessions.subscribe(sessionId, from, signal)[Symbol.asyncIterator]();
    current = { batches, gone };
    return next();
  };
  const isOwnerGone = (): boolean => current?.gone.aborted === true;
  const taken = (
    result: IteratorResult<Batch>,
  ): IteratorResult<Batch> | Promise<IteratorResult<Batch>> => {
    if (result.done === true) return isOwnerGone() ? subscribe() : result;
    last = result.value;
    for (const { event } of last.events) heard(event);
    return result;
  };
  const failed = (error: unknown): Promise<IteratorResult<Batch>> => {
    if (!(error instanceof OwnerGoneError) && !isOwnerGone()) throw error;
    return subscribe();
  };
  const next = (): Promise<IteratorResult<Batch>> =>
    current === undefined ? subscribe() : current.batches.next().then(taken, failed);

  return {
    next,
    async return() {
      isLeft = true;
      await current?.batches.return?.();
      return OVER;
    },
  };
}

const OVER = { done: true, value: undefined } as const;

function endOf({ incarnation, events }: Batch, before: Cursor | undefined): Cursor | undefined {
  const seq = events.at(-1)?.seq;
  return seq === undefined ? before : { incarnation, seq };
}
