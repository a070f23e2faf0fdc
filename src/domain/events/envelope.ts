import type { Actor } from "../actor.ts";
import type { SessionEvent } from "./session-event.ts";

/** An event as the log keeps it and as everybody sees it. */
export interface Envelope<Event extends SessionEvent = SessionEvent> {
  readonly sessionId: string;
  /** From 1, without gaps, for ever. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly turnId?: string;
  readonly actor?: Actor;
  /** The command that brought it about. */
  readonly cause?: string;
  /** `internal` events are for the session and its log alone. */
  readonly visibility: "public" | "internal";
  readonly event: Event;
}

/** An event on its way to the log, which gives it its place. */
export type Draft = Omit<Envelope, "sessionId" | "seq">;

/**
 * A place in one session's log. `incarnation` is the log's own: a session that was deleted and made again under the
 * same id has another.
 */
export interface Cursor {
  readonly incarnation: string;
  /** The last event that was seen; 0 before the first. */
  readonly seq: number;
}
