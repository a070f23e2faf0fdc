import type { Sessions } from "../sessions.ts";

/** Sessions that are there until somebody goes: this process's own, or another's. */
export interface OwnerConnection {
  readonly sessions: Sessions;
  /** Aborted when they are gone. */
  readonly closed: AbortSignal;
}
