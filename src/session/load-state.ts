import { isObject, type JsonObject } from "../domain/json.ts";
import type { Head, Lease, Store } from "../store/store.ts";
import { evolve } from "./evolve.ts";
import { initialState, STATE_FORM, type SessionState } from "./state.ts";

/** Folds a session's log, from its last snapshot on. */
export async function loadState(
  store: Store,
  sessionId: string,
  { seq }: Head,
): Promise<SessionState> {
  let state = await lastSnapshot(store, sessionId, seq);
  while (state.seq < seq) {
    const events = await store.read(sessionId, state.seq, PAGE);
    if (events.length === 0) break;
    // Events that were no longer needed may be gone: the place in the log is the envelope's, not a count.
    for (const envelope of events) {
      if (envelope.seq > seq) return state;
      state = { ...evolve(state, envelope), seq: envelope.seq };
    }
  }
  return state;
}

const PAGE = 1000;

async function lastSnapshot(store: Store, sessionId: string, seq: number): Promise<SessionState> {
  const snapshot = await store.snapshot(sessionId, STATE_FORM);
  // A snapshot is a cache: one that does not fit is as good as none.
  if (snapshot === undefined || snapshot.seq > seq || !isState(snapshot.state)) return initialState;
  return { ...snapshot.state, seq: snapshot.seq };
}

/** Written by this program under this name of its form, which changes whenever the form does. */
function isState(value: unknown): value is SessionState {
  return isObject(value) && Object.keys(initialState).every((name) => name in value);
}

/** Keeps the state, so that the next process need not fold what is before it. */
export function saveState(store: Store, lease: Lease, state: SessionState): Promise<void> {
  const plain: JsonObject = JSON.parse(JSON.stringify(state));
  return store.saveSnapshot(lease, { form: STATE_FORM, seq: state.seq, state: plain });
}
