import type { Draft } from "../../../domain/events/envelope.ts";
import type { Lease, Store } from "../../../store/store.ts";
import { saveState } from "./load-state.ts";
import type { SignContent } from "./sign-receipts.ts";
import type { SessionState } from "../../session-state.ts";

/** Saves the state now and then, where little is under way, so that it is small. */
export interface SnapshotSaver {
  /** The events are in the log, and led to the state. */
  saveIfDue(events: readonly Draft[], state: SessionState): Promise<void>;
}

export interface SnapshotOptions {
  readonly store: Store;
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
