import { isObject, type JsonObject, type JsonValue } from "../data/json.ts";
import { digestValue } from "../platform/digest.ts";
import type { RecordStore } from "../store/record-store.ts";
import { DelegationError } from "./delegation-error.ts";
import type { Checkpoint, DelegationRequest, HandoffEnvelope } from "./external-agent.ts";

export type DelegationRecords = Pick<RecordStore, "readRecord" | "putRecord">;

/** The stored state of a delegation. Refusals are not stored, so a later call may succeed. */
export interface DelegationState {
  /** Digest of the request. The same key with another request is a conflict. */
  readonly fingerprint: string;
  readonly checkpoint: Checkpoint | null;
  /** Milliseconds since 1970 until which another process may be dispatching. Null if none is. */
  readonly dispatchUntil: number | null;
  /** Null before the peer has returned a result. */
  readonly envelope: HandoffEnvelope | null;
}

/** A state with the version of its record, for compare-and-set. Null: without a record. */
export interface LoadedState {
  readonly state: DelegationState;
  readonly version: number | null;
}

const SCOPE = "external-agent";
const RECORD_MS = 30 * 86_400_000;

/** Loads the state of a delegation. Throws `conflict` if the key belongs to another request. */
export async function loadState(
  records: DelegationRecords,
  principal: string,
  request: DelegationRequest,
): Promise<LoadedState> {
  const fingerprint = digestValue({ ...request });
  const record = await records.readRecord(SCOPE, formatKey(principal, request));
  if (record === undefined)
    return {
      state: { fingerprint, checkpoint: null, dispatchUntil: null, envelope: null },
      version: null,
    };
  const state = readState(record.value);
  if (state?.fingerprint === fingerprint) return { state, version: record.version };
  const message = `The idempotency key "${request.idempotency_key}" belongs to another delegation. Fix: choose another key`;
  throw new DelegationError("conflict", message);
}

export interface SaveContext {
  readonly principal: string;
  readonly now: number;
}

/** Stores a state. Throws `conflict` if another process has changed the delegation since. */
export async function saveState(
  records: DelegationRecords,
  request: DelegationRequest,
  { state, version }: LoadedState,
  { principal, now }: SaveContext,
): Promise<LoadedState> {
  const outcome = await records.putRecord(SCOPE, formatKey(principal, request), {
    value: toValue(state),
    expectedVersion: version,
    expiresAt: now + RECORD_MS,
  });
  if (outcome.status === "stored") return { state, version: outcome.version };
  throw new DelegationError(
    "conflict",
    "The delegation was changed by another process. Fix: call again",
  );
}

function formatKey(principal: string, { idempotency_key }: DelegationRequest): string {
  return digestValue([principal, idempotency_key]);
}

function toValue(state: DelegationState): JsonValue {
  // The state consists of JSON values.
  return JSON.parse(JSON.stringify(state)) as JsonObject;
}

/** The records of this scope are written by this module only. Undefined for a record of another version. */
function readState(value: JsonValue): DelegationState | undefined {
  if (!isObject(value) || typeof value["fingerprint"] !== "string") return undefined;
  return value as unknown as DelegationState;
}
