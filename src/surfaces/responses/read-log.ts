import type { Cursor, Envelope } from "../../domain/envelope.ts";
import { SpanlineError } from "../../domain/errors.ts";
import type { Sessions } from "../../session/sessions.ts";
import { answerSpan, type AnswerSpan } from "./answer-span.ts";
import type { Asked } from "./ask.ts";

type Log = Pick<Asked, "sessionId" | "incarnation">;

/** What the log has from a number on, and then whatever comes, until it is told to stop. */
export function batchesFrom(
  { sessionId, incarnation }: Log,
  first: number,
  sessions: Sessions,
  signal: AbortSignal,
): Batches {
  let seen = first - 1;
  let isWhole = false;
  const from = (cursor: Cursor | undefined): AsyncIterator<Batch> =>
    sessions.subscribe(sessionId, cursor, signal)[Symbol.asyncIterator]();
  let source = from({ incarnation, seq: seen });
  const taken = (result: IteratorResult<Batch>): IteratorResult<readonly Envelope[]> => {
    if (result.done === true) return result;
    const { events } = result.value;
    const value = isWhole ? events.filter(({ seq }) => seq > seen) : events;
    seen = value.at(-1)?.seq ?? seen;
    return { done: false, value };
  };
  const failed = (error: unknown): Promise<IteratorResult<readonly Envelope[]>> => {
    if (isWhole || !(error instanceof SpanlineError) || error.code !== "cursor_gone") throw error;
    // Retention drops pieces of texts that have ended: all that is kept has the whole of them.
    isWhole = true;
    source = from(undefined);
    return source.next().then(taken);
  };
  const batches: Batches = {
    [Symbol.asyncIterator]: () => batches,
    next: () => source.next().then(taken, failed),
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

/** An event that is known to be there, by its number; undefined where retention has dropped it. */
export async function envelopeAt(
  log: Log,
  seq: number,
  sessions: Sessions,
): Promise<Envelope | undefined> {
  const over = new AbortController();
  try {
    for await (const [first] of batchesFrom(log, seq, sessions, over.signal)) {
      if (first !== undefined) return first.seq === seq ? first : undefined;
    }
    return undefined;
  } finally {
    over.abort();
  }
}

/** What the log has from a number on, as far as it goes now. */
export async function* envelopesFrom(
  log: Log,
  first: number,
  sessions: Sessions,
): AsyncGenerator<Envelope> {
  const record = await sessions.find(log.sessionId);
  if (record?.incarnation !== log.incarnation || first > record.seq) return;
  const over = new AbortController();
  try {
    for await (const batch of batchesFrom(log, first, sessions, over.signal)) {
      for (const envelope of batch) {
        yield envelope;
        if (envelope.seq >= record.seq) return;
      }
    }
  } finally {
    over.abort();
  }
}

/** One answer, as far as it has come. */
export interface LoggedAnswer {
  readonly envelopes: readonly Envelope[];
  readonly end: AnswerSpan["end"];
  /** The turn that it belongs to, between its beginning and its end. */
  readonly openTurn: string | undefined;
}

export async function answerIn(
  asked: Log & Pick<Asked, "seq" | "promptId">,
  sessions: Sessions,
): Promise<LoggedAnswer> {
  const span = answerSpan(asked.promptId);
  const envelopes: Envelope[] = [];
  for await (const envelope of envelopesFrom(asked, asked.seq, sessions)) {
    span.take(envelope);
    envelopes.push(envelope);
    if (span.end !== undefined) break;
  }
  const { end, turnId } = span;
  return { envelopes, end, openTurn: end === undefined ? turnId : undefined };
}
