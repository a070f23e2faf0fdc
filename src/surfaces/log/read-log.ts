import type { Cursor, Envelope } from "../../domain/events/envelope.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { Sessions } from "../../session/sessions.ts";

/** One log of a session. */
export interface LogReference {
  readonly sessionId: string;
  readonly incarnation: string;
}

/** Reads the log from a sequence number on, then follows new events until the signal aborts. */
export function readBatches(
  { sessionId, incarnation }: LogReference,
  first: number,
  sessions: Sessions,
  signal: AbortSignal,
): Batches {
  let lastSeq = first - 1;
  let isFromStart = false;
  const subscribe = (cursor: Cursor | undefined): AsyncIterator<Batch> =>
    sessions.subscribe(sessionId, cursor, signal)[Symbol.asyncIterator]();
  let source = subscribe({ incarnation, seq: lastSeq });
  const toEnvelopes = (result: IteratorResult<Batch>): IteratorResult<readonly Envelope[]> => {
    if (result.done === true) return result;
    const { events } = result.value;
    const value = isFromStart ? events.filter(({ seq }) => seq > lastSeq) : events;
    lastSeq = value.at(-1)?.seq ?? lastSeq;
    return { done: false, value };
  };
  const restartFromStart = (error: unknown): Promise<IteratorResult<readonly Envelope[]>> => {
    if (isFromStart || !(error instanceof SpanlineError) || error.code !== "cursor_gone")
      throw error;
    // A session which was deleted, and perhaps created again under its id, has another log.
    if (error.details["reason"] !== "retention")
      throw new SpanlineError("not_found", `The session "${sessionId}" was deleted`);
    // Retention drops deltas of finished texts. The remaining log contains the whole texts, so reading starts again at
    // its first event.
    isFromStart = true;
    source = subscribe(undefined);
    return source.next().then(toEnvelopes);
  };
  const batches: Batches = {
    [Symbol.asyncIterator]: () => batches,
    next: () => source.next().then(toEnvelopes, restartFromStart),
    async return() {
      await source.return?.();
      return { done: true, value: undefined };
    },
  };
  return batches;
}

interface Batch {
  readonly events: readonly Envelope[];
}

type Batches = AsyncIterableIterator<readonly Envelope[]> & {
  return(): Promise<IteratorResult<readonly Envelope[]>>;
};

/** Reads an existing event by its sequence number. Undefined if retention has dropped it. */
export async function readEnvelope(
  log: LogReference,
  seq: number,
  sessions: Sessions,
): Promise<Envelope | undefined> {
  const over = new AbortController();
  try {
    for await (const [first] of readBatches(log, seq, sessions, over.signal)) {
      if (first !== undefined) return first.seq === seq ? first : undefined;
    }
    return undefined;
  } finally {
    over.abort();
  }
}

/** Reads the log from a sequence number to its current end. */
export async function* readEnvelopes(
  log: LogReference,
  first: number,
  sessions: Sessions,
): AsyncGenerator<Envelope> {
  const record = await sessions.find(log.sessionId);
  if (record?.incarnation !== log.incarnation || first > record.seq) return;
  const over = new AbortController();
  try {
    for await (const batch of readBatches(log, first, sessions, over.signal)) {
      for (const envelope of batch) {
        yield envelope;
        if (envelope.seq >= record.seq) return;
      }
    }
  } finally {
    over.abort();
  }
}
