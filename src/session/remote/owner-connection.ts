import type { Sessions } from "../sessions.ts";

/** Sessions that are there until somebody goes: this process's own, or another's. */
export interface OwnerConnection {
  readonly sessions: Sessions;
  /** Aborted when they are gone. */
  readonly closed: AbortSignal;
}

/** The owner is gone, and with it what was asked of it: it may have been done or not. */
export class OwnerGoneError extends Error {
  override readonly name = "OwnerGoneError";
}
