import type { FileChangeEntry, WatchRequest } from "../outputs/file-watch.ts";

/** Events of the slice `watches`: subscriptions to changes of files. */
export type WatchEvent = WatchAdded | WatchRemoved | FilesChanged;

export interface WatchAdded extends WatchRequest {
  readonly type: "watch.added";
  readonly subscriptionId: string;
  readonly owner: WatchOwner;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/**
 * `agent`: changes become reminders for the agent. `client`: files are watched while the client is attached. `session`:
 * a caller without an attachment.
 */
export type WatchOwner =
  | { readonly kind: "agent" | "session" }
  | { readonly kind: "client"; readonly clientId: string };

export interface WatchRemoved {
  readonly type: "watch.removed";
  readonly subscriptionId: string;
  readonly reason: "requested" | "detached" | "expired";
}

/** Coalesced changes of one subscription. */
export interface FilesChanged {
  readonly type: "files.changed";
  readonly subscriptionId: string;
  readonly entries: readonly FileChangeEntry[];
}
