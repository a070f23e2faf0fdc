import type { Envelope } from "../../../domain/events/envelope.ts";
import { SpanlineError } from "../../../domain/errors.ts";
import type { BlobStore } from "../../../store/blob-store.ts";
import type { LogStore } from "../../../store/log-store.ts";
import {
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

/** The conversation as it was before a call of the provider, which is known by its id. */
export type ReadConversation = (callId: string) => Promise<Conversation>;

export interface ConversationOptions {
  /** Called with errors of the stored history, which is a cache: the log has everything. */
  readonly report: (error: unknown) => void;
  /** How many events are folded into one stored part, at least. Default: 500. */
  readonly foldedEvents?: number;
}

type ConversationLog = Pick<LogStore, "readPage"> & BlobStore;

/**
 * Folds a session's log as far as it is needed, and continues from there the next time: a log only grows. The messages of
 * finished turns are stored now and then, so that the next process folds only the turns since.
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
      // A missing part ends the chain, so none is stored after it.
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

/** Folds up to the start of a call. False if the log ends before. */
async function foldUntil(
  fold: Fold,
  invocationId: string,
  { store, sessionId }: { readonly store: ConversationLog; readonly sessionId: string },
): Promise<boolean> {
  for (;;) {
    const events = await store.readPage(sessionId, fold.seq);
    for (const envelope of events) {
      const { event } = envelope;
      if (event.type === "invocation.started" && event.invocationId === invocationId) return true;
      fold.add(envelope);
    }
    if (events.length === 0) return false;
  }
}

/** A fold that begins with the stored history, as far as that is whole. */
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

/** Other sessions have the event loop between two such amounts. */
const BYTES_PER_TICK = 250_000;

/** Stored history is a cache: what cannot be used is folded from the log again. */
function createDamagedHistoryError(sessionId: string, seq: number): SpanlineError {
  const message = `The stored history of session ${sessionId} cannot be used from event ${seq} on; the log is read instead`;
  return new SpanlineError("store_damaged", message, { details: { sessionId, seq } });
}

/**
 * A conversation with the messages of finished turns kept apart. They only grow, so that an event costs the same however
 * long the session is.
 */
class Fold {
  seq = 0;
  isFromStored = false;
  readonly #finished: ConversationMessage[] = [];
  /** The conversation since; `beforeAnswer` counts from the end of the finished turns, and may be negative. */
  #recent: Conversation = initialConversation;
  #stored = { seq: 0, count: 0 };
  #isStoring = true;
  #folded: FoldedHistory[] = [];
  readonly #foldedEvents: number;

  constructor(foldedEvents: number) {
    this.#foldedEvents = foldedEvents;
  }

  add(envelope: Envelope): void {
    this.#recent = evolveConversation(this.#recent, envelope);
    this.seq = envelope.seq;
    if (envelope.event.type === "turn.finished") this.#finishTurn();
  }

  conversation(): Conversation {
    const { messages, lastResponseStart } = this.#recent;
    return {
      ...this.#recent,
      messages: [...this.#finished, ...messages],
      lastResponseStart: this.#finished.length + lastResponseStart,
    };
  }

  restore({ seq, messages, last, lastResponseStart: beforeAnswer }: FoldedHistory): void {
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

  /** History of finished turns that is to be stored, in order. */
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
    // What waits for its way to the agent belongs to the next turn.
    if (pending.length > 0 || invocation !== null || openToolCallIds.length > 0) return;
    const total = this.#finished.length + beforeAnswer;
    // History that is given later may still be joined to the last message.
    const last = messages.slice(-1);
    for (const message of messages.slice(0, -1)) this.#finished.push(message);
    const relative = total - this.#finished.length;
    this.#recent = { ...this.#recent, messages: last, lastResponseStart: relative };
    if (!this.#isStoring || this.seq - this.#stored.seq < this.#foldedEvents) return;
    this.#folded.push({
      fromSeq: this.#stored.seq,
      seq: this.seq,
      messages: this.#finished.slice(this.#stored.count),
      last,
      lastResponseStart: total,
    });
    this.#stored = { seq: this.seq, count: this.#finished.length };
  }
}

/** Fewer are folded from the log in less time than another part takes to read. */
const FOLDED_EVENTS = 500;
