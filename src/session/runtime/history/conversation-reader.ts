import type { Envelope } from "../../../domain/events/envelope.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import type { BlobStore } from "../../../store/blob-store.ts";
import type { LogStore } from "../../../store/log-store.ts";
import {
  countLastingMessages,
  evolveConversation,
  initialConversation,
  type Conversation,
  type ConversationMessage,
} from "./conversation.ts";
import {
  decodeFoldedHistory,
  encodeFoldedHistory,
  createHistoryBlobId,
  type FoldedHistory,
} from "./folded-history.ts";

/** Returns the conversation before an invocation or before a compaction, given its id. */
export type ReadConversation = (callId: string) => Promise<Conversation>;

export interface ConversationOptions {
  /** Called with errors of the stored history, which is only a cache of the log. */
  readonly report: (error: unknown) => void;
  /** Minimum number of events per stored part. Default: 500. */
  readonly foldedEvents?: number;
}

type ConversationLog = Pick<LogStore, "readPage"> & BlobStore;

/**
 * Folds a session's log as far as needed and continues from there, since a log only grows. Messages of finished turns
 * are stored periodically, so the next process folds only the turns since.
 */
export function createConversationReader(
  store: ConversationLog,
  sessionId: string,
  options: ConversationOptions,
): ReadConversation {
  const { report, foldedEvents = FOLDED_EVENTS } = options;
  let fold: Fold | undefined;
  let tail: Promise<unknown> = Promise.resolve();

  const storeParts = async (from: Fold): Promise<void> => {
    for (const part of from.takeFolded())
      await store.putBlob(sessionId, createHistoryBlobId(part.fromSeq), encodeFoldedHistory(part));
  };

  const readConversation = async (callId: string): Promise<Conversation> => {
    fold ??= await restoreFold(new Fold(foldedEvents), store, { sessionId, report });
    if (!(await foldUntil(fold, callId, { store, sessionId })) && fold.isFromStored) {
      report(createDamagedHistoryError(sessionId, fold.seq));
      fold = new Fold(foldedEvents);
      await foldUntil(fold, callId, { store, sessionId });
    }
    await storeParts(fold).catch((error: unknown) => {
      // A missing part breaks the chain, so no later part is stored.
      fold?.stopStoring();
      report(error);
    });
    return fold.conversation();
  };

  return (callId) => {
    const done = tail.then(() => readConversation(callId));
    tail = done.catch(() => undefined);
    return done;
  };
}

/** Folds up to the start of an invocation or compaction. False if the log ends before. */
async function foldUntil(
  fold: Fold,
  callId: string,
  { store, sessionId }: { readonly store: ConversationLog; readonly sessionId: string },
): Promise<boolean> {
  for (;;) {
    const events = await store.readPage(sessionId, fold.seq);
    for (const envelope of events) {
      const { event } = envelope;
      if (event.type === "invocation.started" && event.invocationId === callId) return true;
      if (event.type === "compaction.started" && event.compactionId === callId) return true;
      fold.add(envelope);
    }
    if (events.length === 0) return false;
  }
}

/** Restores a fold from the stored history, up to the first missing or damaged part. */
async function restoreFold(
  fold: Fold,
  store: ConversationLog,
  { sessionId, report }: ConversationOptions & { readonly sessionId: string },
): Promise<Fold> {
  let unyielded = 0;
  for (;;) {
    const bytes = await store.readBlob(sessionId, createHistoryBlobId(fold.seq));
    if (bytes === undefined) return fold;
    const part = decodeFoldedHistory(bytes);
    if (part === undefined || part.fromSeq !== fold.seq || part.seq <= part.fromSeq) {
      report(createDamagedHistoryError(sessionId, fold.seq));
      return fold;
    }
    fold.restore(part);
    unyielded += bytes.length;
    if (unyielded < BYTES_PER_TICK) continue;
    unyielded = 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Bytes between yields to the event loop, so other sessions can run. */
const BYTES_PER_TICK = 250_000;

/** Stored history is a cache: unusable parts are folded from the log again. */
function createDamagedHistoryError(sessionId: string, seq: number): SpanlineError {
  const message = `The stored history of session ${sessionId} cannot be used from event ${seq} on; the log is read instead`;
  return new SpanlineError("store_damaged", message, { details: { sessionId, seq } });
}

/**
 * A conversation with the messages of finished turns kept separately, so the cost of an event does not grow with the
 * session.
 */
class Fold {
  seq = 0;
  isFromStored = false;
  readonly #finished: ConversationMessage[] = [];
  /** The conversation after the finished turns. Its `lastResponseStart` counts from their end and may be negative. */
  #recent: Conversation = initialConversation;
  #stored = { seq: 0, count: 0 };
  /** The next stored part replaces the earlier ones. */
  #isReplaced = false;
  #isStoring = true;
  #folded: FoldedHistory[] = [];
  readonly #foldedEvents: number;

  constructor(foldedEvents: number) {
    this.#foldedEvents = foldedEvents;
  }

  add(envelope: Envelope): void {
    if (envelope.event.type === "transcript.compacted") this.#compact(envelope);
    else this.#recent = evolveConversation(this.#recent, envelope);
    this.seq = envelope.seq;
    if (envelope.event.type === "turn.finished") this.#finishTurn();
  }

  /** Archived messages may be among those of finished turns, so the compacted conversation is kept separately anew. */
  #compact(envelope: Envelope): void {
    this.#recent = evolveConversation(this.conversation(), envelope);
    this.#finished.length = 0;
    this.#stored = { ...this.#stored, count: 0 };
    this.#isReplaced = true;
  }

  conversation(): Conversation {
    const { messages, lastResponseStart } = this.#recent;
    return {
      ...this.#recent,
      messages: [...this.#finished, ...messages],
      lastResponseStart: this.#finished.length + lastResponseStart,
    };
  }

  restore({ seq, replaces, messages, last, lastResponseStart: beforeAnswer }: FoldedHistory): void {
    if (replaces === true) this.#finished.length = 0;
    for (const message of messages) this.#finished.push(message);
    this.#recent = {
      ...initialConversation,
      messages: last,
      lastResponseStart: beforeAnswer - this.#finished.length,
    };
    this.seq = seq;
    this.isFromStored = true;
    this.#stored = { seq, count: this.#finished.length };
  }

  /** Returns and clears the parts to store, in order. */
  takeFolded(): readonly FoldedHistory[] {
    return this.#folded.splice(0);
  }

  stopStoring(): void {
    this.#isStoring = false;
    this.#folded = [];
  }

  #finishTurn(): void {
    const {
      messages,
      lastResponseStart: beforeAnswer,
      pending,
      invocation,
      openToolCallIds,
    } = this.#recent;
    // Undelivered content belongs to the next turn.
    if (pending.length > 0 || invocation !== null || openToolCallIds.length > 0) return;
    const total = this.#finished.length + beforeAnswer;
    // The last message stays open: later imported history may be joined to it. Reminders which expire stay open too.
    const count = Math.min(Math.max(messages.length - 1, 0), countLastingMessages(this.#recent));
    const last = messages.slice(count);
    for (const message of messages.slice(0, count)) this.#finished.push(message);
    const relative = total - this.#finished.length;
    this.#recent = { ...this.#recent, messages: last, lastResponseStart: relative };
    if (!this.#isStoring || this.seq - this.#stored.seq < this.#foldedEvents) return;
    // A stored message does not change.
    if (this.#recent.expiring.length > 0) return;
    this.#folded.push({
      fromSeq: this.#stored.seq,
      seq: this.seq,
      ...(this.#isReplaced && { replaces: true as const }),
      messages: this.#finished.slice(this.#stored.count),
      last,
      lastResponseStart: total,
    });
    this.#stored = { seq: this.seq, count: this.#finished.length };
    this.#isReplaced = false;
  }
}

/** Fewer events are folded from the log faster than another part is read. */
const FOLDED_EVENTS = 500;
