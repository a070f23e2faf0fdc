import type { Sessions } from "../../session/sessions.ts";

/** Sessions that are there until somebody goes: this process's own, or another's. */
export interface Joined {
  readonly sessions: Sessions;
  /** Aborted when they are gone. */
  readonly gone: AbortSignal;
}
