import { SpanlineError } from "../../../domain/errors.ts";
import type { Draft } from "../../../domain/events/envelope.ts";
import type { Lease, LogStore } from "../../../store/log-store.ts";
import type { SnapshotStore, Snapshot } from "../../../store/snapshot-store.ts";
import { evolve } from "../../evolve.ts";
import { initialState, STATE_VERSION, type SessionState } from "../../session-state.ts";
import type { ReceiptVerifier, VerifySignature } from "./receipt-verifier.ts";
import type { SignContent } from "./append-decision.ts";
import { isObject, type JsonObject } from "../../../data/json.ts";
import { digestText } from "../../../platform/digest.ts";

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

/** The methods of a store which are needed to fold a log. */
type StateReader = Pick<LogStore, "readPage"> & Pick<SnapshotStore, "readSnapshot">;

export interface LoadedState {
  readonly state: SessionState;
  /** Position of the snapshot used. 0: none. */
  readonly snapshotSeq: number;
}

export async function loadState(
  store: StateReader,
  sessionId: string,
  options: LoadOptions,
): Promise<SessionState> {
  return (await loadFromSnapshot(store, sessionId, options)).state;
}

/**
 * Folds a session's log from its latest snapshot. Reads page by page, so the event loop is not blocked by a long log.
 */
export async function loadFromSnapshot(
  store: StateReader,
  sessionId: string,
  options: LoadOptions,
): Promise<LoadedState> {
  const snapshot = await readLastSnapshot(store, sessionId, options);
  const state = await foldLog(snapshot, store, { ...options, sessionId });
  return { state, snapshotSeq: snapshot.seq };
}

async function foldLog(
  snapshot: SessionState,
  store: Pick<LogStore, "readPage">,
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
  store: Pick<SnapshotStore, "readSnapshot">,
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
export interface SnapshotSaver {
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

/**
 * A snapshot with a digest over session and state, to detect changes. Snapshots contain approvals, so they are signed
 * wherever receipts are.
 */
function sealState(sessionId: string, state: SessionState, sign?: SignContent): Snapshot {
  const jsonState: JsonObject = JSON.parse(JSON.stringify(state));
  const digest = digestState(sessionId, jsonState);
  const signed = sign === undefined ? {} : { signature: { ...sign({ snapshot: digest }) } };
  return { version: STATE_VERSION, seq: state.seq, state: { digest, ...signed, state: jsonState } };
}

/** Opens a snapshot. Throws `store_damaged` if it was changed, or not written by this user. */
function unsealState(
  sessionId: string,
  snapshot: Snapshot,
  verify: VerifySignature = () => true,
): SessionState {
  const { digest, state, signature } = snapshot.state;
  const { keyId = "", mac = "" } = Object(signature ?? {});
  const isComplete = isState(state) && state.seq === snapshot.seq;
  if (isComplete && digest === digestState(sessionId, state)) {
    if (verify({ snapshot: digest }, { keyId: String(keyId), mac: String(mac) })) return state;
  }
  throw new SpanlineError("store_damaged", "The snapshot has changed since it was written");
}

/** Parsing and serializing JSON again yields the same text, because keys keep their order. */
function digestState(sessionId: string, state: object): string {
  return digestText(`${sessionId}\n${JSON.stringify(state)}`);
}

/** The version covers format changes; the digest covers any other change. */
function isState(value: unknown): value is SessionState {
  return isObject(value) && Object.keys(initialState).every((name) => name in value);
}
