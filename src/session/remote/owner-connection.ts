import type { Sessions } from "../sessions.ts";

/** Sessions of this process or of another one, usable until the connection closes. */
export interface OwnerConnection {
  readonly sessions: Sessions;
  /** Aborted when the connection closes. */
  readonly closed: AbortSignal;
}

/** The owner disconnected with a request open. The request may have taken effect or not. */
export class OwnerGoneError extends Error {
  override readonly name = "OwnerGoneError";
}
