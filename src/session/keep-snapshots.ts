import type { Draft } from "../domain/envelope.ts";
import type { Lease, Store } from "../store/store.ts";
import { saveState } from "./load-state.ts";
import type { Sign } from "./sign-receipts.ts";
import type { SessionState } from "./state.ts";

/** Saves the state now and then, where little is under way, so that it is small. */
export interface Snapshots {
  /** The events are in the log, and led to the state. */
  after(events: readonly Draft[], state: SessionState): Promise<void>;
}

export interface SnapshotOptions {
  readonly store: Store;
  readonly lease: Lease;
  readonly sign?: Sign;
}

/** `from` is the last seq of what need not be folded again. */
export function keepSnapshots({ store, lease, sign }: SnapshotOptions, from: number): Snapshots {
  let last = from;
  return {
    async after(events, state) {
      if (state.seq - last < SNAPSHOT_EVENTS) return;
      if (!events.some(({ event }) => event.type === "turn.finished")) return;
      last = state.seq;
      await saveState(store, lease, state, sign);
    },
  };
}

const SNAPSHOT_EVENTS = 500;
