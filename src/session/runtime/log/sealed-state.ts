import { SpanlineError } from "../../../domain/errors.ts";
import { isObject, type JsonObject } from "../../../data/json.ts";
import { digestText } from "../../../platform/digest.ts";
import type { Snapshot } from "../../../store/snapshot-store.ts";
import type { VerifySignature } from "./receipt-verifier.ts";
import type { SignContent } from "./sign-receipts.ts";
import { initialState, STATE_VERSION, type SessionState } from "../../session-state.ts";

/**
 * A snapshot with a digest over session and state, to detect changes. Snapshots contain approvals, so they are signed
 * wherever receipts are.
 */
export function sealState(sessionId: string, state: SessionState, sign?: SignContent): Snapshot {
  const jsonState: JsonObject = JSON.parse(JSON.stringify(state));
  const digest = digestState(sessionId, jsonState);
  const signed = sign === undefined ? {} : { signature: { ...sign({ snapshot: digest }) } };
  return { version: STATE_VERSION, seq: state.seq, state: { digest, ...signed, state: jsonState } };
}

/** Opens a snapshot. Throws `store_damaged` if it was changed, or not written by this user. */
export function unsealState(
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
