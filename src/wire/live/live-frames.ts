import type { JsonValue } from "../../data/json.ts";
import type { Right } from "../../domain/actor.ts";
import type { ApprovalRequested } from "../../domain/events/approval-events.ts";
import type { ClientRole } from "../../domain/events/client-events.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import type { ApprovalDecision } from "../../domain/policy/approval-decision.ts";

/**
 * The frames of `/api/live`: one WebSocket which carries the events of any number of sessions, the session list and the
 * inbox. A frame is one JSON text message. The socket only reads; commands are sent with
 * `POST /api/sessions/{id}/commands`.
 *
 * ```
 * server: {"type":"ready","protocol":1,…}
 * client: {"type":"subscribe","id":"s1","sessionId":"ses_1","cursor":"k3.120"}
 * server: {"type":"events","id":"s1","cursor":"k3.124","events":[…]}
 * server: {"type":"live","id":"s1","cursor":"k3.124"}
 * client: {"type":"watch","topic":"inbox"}
 * server: {"type":"inbox","reset":true,"items":[…],"removed":[],"complete":true}
 * ```
 *
 * The server never drops a frame. A client that stops reading is disconnected, and resumes from its cursors.
 */
export const LIVE_PROTOCOL = 1;

/** A frame from the client. `id` is chosen by the client and names a subscription of this connection. */
export type LiveRequest =
  /** Sends the events after the cursor, or from the beginning, then new events. */
  | {
      readonly type: "subscribe";
      readonly id: string;
      readonly sessionId: string;
      readonly cursor?: string;
    }
  | { readonly type: "unsubscribe"; readonly id: string }
  /** Shows this client to the other clients of a subscribed session, until the subscription or the connection ends. */
  | {
      readonly type: "attach";
      readonly id: string;
      /** The name shown to others, such as `Firefox on Linux`. */
      readonly name: string;
      readonly mode: ClientRole;
      /** Takes control from the present controller. */
      readonly takeOver?: boolean;
      /**
       * The client id of `attached` before a reconnect. The server keeps the id and the role for a few seconds after a
       * lost connection; later, or after a restart, the client gets a new id.
       */
      readonly clientId?: string;
    }
  | { readonly type: "detach"; readonly id: string }
  | { readonly type: "watch"; readonly topic: LiveTopic }
  | { readonly type: "unwatch"; readonly topic: LiveTopic }
  /** Answered with `pong` at once. Browsers cannot send WebSocket pings. */
  | { readonly type: "ping"; readonly id: number };

/** `sessions`: the session list, newest first. `inbox`: open requests to people, of all sessions. */
export type LiveTopic = "sessions" | "inbox";

export type LiveFrame =
  | ReadyFrame
  | EventsFrame
  | LiveMarkFrame
  | GapFrame
  | EndedFrame
  | AttachedFrame
  | SessionsFrame
  | InboxFrame
  | RefusedFrame
  | { readonly type: "pong"; readonly id: number };

/** The first frame of a connection. */
export interface ReadyFrame {
  readonly type: "ready";
  readonly protocol: number;
  readonly principal: { readonly id: string; readonly rights: readonly Right[] };
  /** Names of the agents. The first is the default. */
  readonly agents: readonly string[];
  /** The version of the bridge. A page from another version reloads. */
  readonly version: string;
  /** The server's time, in milliseconds since 1970. */
  readonly now: number;
}

/** Consecutive events of one subscription. Internal events are left out. */
export interface EventsFrame {
  readonly type: "events";
  readonly id: string;
  /** Cursor after the last event, to resume from. */
  readonly cursor: string;
  readonly events: readonly Envelope[];
}

/** The subscription has reached the end which the log had when it started; later events are new. */
export interface LiveMarkFrame {
  readonly type: "live";
  readonly id: string;
  readonly cursor: string;
}

/** Events of the log are missing or unreadable. The subscription continues after them. */
export interface GapFrame {
  readonly type: "gap";
  readonly id: string;
  readonly cursor: string;
  readonly error: LiveError;
}

/** The subscription has ended, for example because the session was deleted (`not_found`) or the cursor is invalid. */
export interface EndedFrame {
  readonly type: "ended";
  readonly id: string;
  readonly error: LiveError;
}

export interface AttachedFrame {
  readonly type: "attached";
  readonly id: string;
  readonly clientId: string;
  readonly role: ClientRole;
}

/** The changed sessions. With `reset`, the newest sessions, in place of all earlier frames. */
export interface SessionsFrame {
  readonly type: "sessions";
  readonly reset: boolean;
  readonly sessions: readonly SessionSummary[];
  /** Ids of deleted sessions. */
  readonly removed: readonly string[];
  /** Only with `reset`: false if there are older sessions, which `GET /api/sessions` lists. */
  readonly complete?: boolean;
}

export interface SessionSummary {
  readonly sessionId: string;
  readonly agent: string;
  readonly principal: string;
  readonly title: string | null;
  readonly workingDirectory: string | null;
  /** `waiting`: a person has to decide or answer. */
  readonly state: "idle" | "running" | "waiting";
  readonly createdAt: number;
  /** The time of the last event. */
  readonly updatedAt: number;
  /** Cursor of the last event. */
  readonly cursor: string;
}

/** The changed items. With `reset`, all open items (oldest first), in place of all earlier frames. */
export interface InboxFrame {
  readonly type: "inbox";
  readonly reset: boolean;
  readonly items: readonly InboxItem[];
  /** Keys of the items which are no longer open. */
  readonly removed: readonly string[];
  /** Only with `reset`: false if there are more open items than the limit. */
  readonly complete?: boolean;
}

/** An open request to a person. */
export interface InboxItem {
  /** Unique in the inbox: `sessionId/approvalId`. */
  readonly key: string;
  readonly sessionId: string;
  readonly title: string | null;
  readonly agent: string;
  readonly principal: string;
  /** Milliseconds since 1970. */
  readonly requestedAt: number;
  /** The request as logged, with whole arguments. Without its signature. */
  readonly request: Omit<ApprovalRequested, "signature">;
  /** The approvals so far, if several people must approve. */
  readonly votes: readonly InboxVote[];
}

export interface InboxVote {
  readonly principal: string;
  readonly decision: ApprovalDecision;
  readonly answer?: JsonValue;
}

/** A frame of the client which had no effect. The connection stays open. */
export interface RefusedFrame {
  readonly type: "refused";
  /** The subscription or topic of the refused frame. Absent if it had none. */
  readonly id?: string;
  readonly error: LiveError;
}

export interface LiveError {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
}
