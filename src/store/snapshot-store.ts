import type { JsonObject } from "../data/json.ts";
import type { Lease } from "./log-store.ts";

/**
 * The folded state of a session at one position of its log. Opening a long session then reads only the events after the
 * snapshot.
 *
 * ```ts
 * await store.saveSnapshot(lease, { version: "7", seq: 4_200, state });
 * const snapshot = await store.readSnapshot("ses_1", "7");
 * ```
 *
 * A snapshot is a cache: the log contains all of its information. A session has one snapshot, the last one saved.
 */
export interface SnapshotStore {
  /** Throws `stale_lease` if the session has a newer lease, and `wrong_seq` if the log ends before the snapshot. */
  saveSnapshot(lease: Lease, snapshot: Snapshot): Promise<void>;
  /**
   * Undefined if the session has no snapshot or a snapshot of another version. Throws `store_damaged` if the snapshot
   * cannot be parsed.
   */
  readSnapshot(sessionId: string, version: string): Promise<Snapshot | undefined>;
}

export interface Snapshot {
  /** The version of the state's format. */
  readonly version: string;
  /** The last event folded into the state. */
  readonly seq: number;
  readonly state: JsonObject;
}
