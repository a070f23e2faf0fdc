import type { Actor } from "../actor.ts";
import type { SessionEvent } from "./session-event.ts";

/** An event as stored in the log and sent to clients. */
export interface Envelope<Event extends SessionEvent = SessionEvent> {
  readonly sessionId: string;
  /** Position in the log: starts at 1, without gaps, never reused. */
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly turnId?: string;
  readonly actor?: Actor;
  /** Id of the command which caused the event. */
  readonly cause?: string;
  /** `internal` events are not sent to clients. */
  readonly visibility: "public" | "internal";
  readonly event: Event;
}

/** An event before the log assigns its position. */
export type Draft = Omit<Envelope, "sessionId" | "seq">;

/**
 * A position in one session's log. `incarnation` identifies the log: a session deleted and created again under the same
 * id has another value, so an old cursor is detected.
 */
export interface Cursor {
  readonly incarnation: string;
  /** The last event seen. 0: none yet. */
  readonly seq: number;
}
