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
  /** Last event to read. */
  readonly seq: number;
  /** Cancels loading. */
  readonly signal?: AbortSignal;
  /** Set if receipts are signed: snapshots must be signed, too. */
  readonly verify?: VerifySignature;
  /** Checks each event before it is folded. */
  readonly receiptVerifier?: ReceiptVerifier;
  /** Called for an unusable snapshot. */
  readonly report?: (error: unknown) => void;
}

export interface LoadedState {
  readonly state: SessionState;
  /** Position of the snapshot used. 0: none. */
  readonly snapshotSeq: number;
}

export async function loadState(
  store: LogStore & SnapshotStore,
  sessionId: string,
  options: LoadOptions,
): Promise<SessionState> {
  return (await loadFromSnapshot(store, sessionId, options)).state;
}

/**
 * Folds a session's log from its latest snapshot. Reads page by page, so the event loop is not blocked by a long log.
 */
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
    // Events may have been removed by retention: `seq` comes from the envelope, not from a count.
    for (const envelope of events) {
      if (envelope.seq > seq) return state;
      receiptVerifier?.check(envelope, state);
      state = { ...evolve(state, envelope), seq: envelope.seq };
    }
  }
  return state;
}

/** Reads the latest snapshot. An unusable one is reported and ignored, since it is only a cache. */
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

/** Saves a snapshot, so the next process need not fold earlier events. */
export function saveState(
  store: SnapshotStore,
  lease: Lease,
  state: SessionState,
  sign?: SignContent,
): Promise<void> {
  return store.saveSnapshot(lease, sealState(lease.sessionId, state, sign));
}

/** Saves snapshots periodically at the end of a turn, when the state is small. */
interface SnapshotSaver {
  /** Call after the events are in the log, with the resulting state. */
  saveIfDue(events: readonly Draft[], state: SessionState): Promise<void>;
}

interface SnapshotOptions {
  readonly store: SnapshotStore;
  readonly lease: Lease;
  readonly sign?: SignContent;
}

/** `snapshotSeq`: position of the latest snapshot. */
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
