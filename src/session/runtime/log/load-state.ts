import { SpanlineError } from "../../../domain/errors.ts";
import type { Draft } from "../../../domain/events/envelope.ts";
import type { Lease, LogStore } from "../../../store/log-store.ts";
import type { SnapshotStore } from "../../../store/snapshot-store.ts";
import { evolve } from "../../evolve.ts";
import { initialState, STATE_VERSION, type SessionState } from "../../session-state.ts";
import type { ReceiptVerifier, VerifySignature } from "./receipt-verifier.ts";
import { sealState, unsealState } from "./sealed-state.ts";
import type { SignContent } from "./sign-receipts.ts";

export interface LoadOptions {
  /** Where the log is to be read to. */
  readonly seq: number;
  /** Ends it: nobody wants the state any more. */
  readonly signal?: AbortSignal;
  /** Given where receipts are signed: then a snapshot has to be, too. */
  readonly verify?: VerifySignature;
  /** Looks at what is read, before it is folded. */
  readonly receiptVerifier?: ReceiptVerifier;
  /** Told of a snapshot that cannot be used. */
  readonly report?: (error: unknown) => void;
}

export interface LoadedState {
  readonly state: SessionState;
  /** Where the snapshot is from which the log was folded. 0: there was none. */
  readonly snapshotSeq: number;
}

export async function loadState(
  store: LogStore & SnapshotStore,
  sessionId: string,
  options: LoadOptions,
): Promise<SessionState> {
  return (await loadFromSnapshot(store, sessionId, options)).state;
}

/** Folds a session's log, from its last snapshot on. Of a long one it is a page in each turn of the loop. */
export async function loadFromSnapshot(
  store: LogStore & SnapshotStore,
  sessionId: string,
  options: LoadOptions,
): Promise<LoadedState> {
  const snapshot = await readLastSnapshot(store, sessionId, options);
  const state = await foldLog(snapshot, store, { ...options, sessionId });
  return { state, snapshotSeq: snapshot.seq };
}

async function foldLog(
  snapshot: SessionState,
  store: LogStore,
  { sessionId, seq, receiptVerifier, signal }: LoadOptions & { readonly sessionId: string },
): Promise<SessionState> {
  let state = snapshot;
  while (state.seq < seq) {
    const events = await store.readPage(sessionId, state.seq);
    signal?.throwIfAborted();
    if (events.length === 0) break;
    // Events that were no longer needed may be gone: the place in the log is the envelope's, not a count.
    for (const envelope of events) {
      if (envelope.seq > seq) return state;
      receiptVerifier?.check(envelope, state);
      state = { ...evolve(state, envelope), seq: envelope.seq };
    }
  }
  return state;
}

/** A snapshot is a cache: one that cannot be used is as good as none. */
async function readLastSnapshot(
  store: SnapshotStore,
  sessionId: string,
  { seq, verify, report }: LoadOptions,
): Promise<SessionState> {
  try {
    const snapshot = await store.readSnapshot(sessionId, STATE_VERSION);
    const state = snapshot === undefined ? initialState : unsealState(sessionId, snapshot, verify);
    return state.seq > seq ? initialState : state;
  } catch (error) {
    if (!(error instanceof SpanlineError && error.code === "store_damaged")) throw error;
    const message = `The snapshot of session ${sessionId} cannot be used; the log is read from its start`;
    const details = { sessionId };
    report?.(new SpanlineError("store_damaged", message, { details, cause: error }));
    return initialState;
  }
}

/** Keeps the state, so that the next process need not fold what is before it. */
export function saveState(
  store: SnapshotStore,
  lease: Lease,
  state: SessionState,
  sign?: SignContent,
): Promise<void> {
  return store.saveSnapshot(lease, sealState(lease.sessionId, state, sign));
}

/** Saves the state now and then, where little is under way, so that it is small. */
interface SnapshotSaver {
  /** The events are in the log, and led to the state. */
  saveIfDue(events: readonly Draft[], state: SessionState): Promise<void>;
}

interface SnapshotOptions {
  readonly store: SnapshotStore;
  readonly lease: Lease;
  readonly sign?: SignContent;
}

/** `from` is the last seq of what need not be folded again. */
export function createSnapshotSaver(
  { store, lease, sign }: SnapshotOptions,
  snapshotSeq: number,
): SnapshotSaver {
  let last = snapshotSeq;
  return {
    async saveIfDue(events, state) {
      if (state.seq - last < SNAPSHOT_EVENTS) return;
      if (!events.some(({ event }) => event.type === "turn.finished")) return;
      last = state.seq;
      await saveState(store, lease, state, sign);
    },
  };
}

const SNAPSHOT_EVENTS = 500;
