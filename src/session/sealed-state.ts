import { SpanlineError } from "../domain/errors.ts";
import { isObject, type JsonObject } from "../domain/json.ts";
import { digestOfText } from "../platform/digest.ts";
import type { Snapshot } from "../store/store.ts";
import { initialState, STATE_FORM, type SessionState } from "./state.ts";

/** A state as it is kept: with a digest that tells whether it still is what was written, of this session. */
export function sealState(sessionId: string, state: SessionState): Snapshot {
  const plain: JsonObject = JSON.parse(JSON.stringify(state));
  const sealed = { digest: sealOf(sessionId, plain), state: plain };
  return { form: STATE_FORM, seq: state.seq, state: sealed };
}

/** Refuses what is not as it was written (`store_damaged`). */
export function unsealState(sessionId: string, snapshot: Snapshot): SessionState {
  const { digest, state } = snapshot.state;
  const isWhole = isState(state) && state.seq === snapshot.seq;
  if (isWhole && digest === sealOf(sessionId, state)) return state;
  throw new SpanlineError("store_damaged", "The snapshot is not what was written");
}

/** JSON text that is read and written again is the same text: keys keep their order. */
function sealOf(sessionId: string, state: object): string {
  return digestOfText(`${sessionId}\n${JSON.stringify(state)}`);
}

/** The form's name changes whenever the form does; that nothing else changed is for the digest to say. */
function isState(value: unknown): value is SessionState {
  return isObject(value) && Object.keys(initialState).every((name) => name in value);
}
