import type { Envelope } from "../../domain/events/envelope.ts";
import type {
  AttachedFrame,
  InboxFrame,
  LiveError,
  LiveFrame,
  LiveRequest,
  LiveTopic,
  ReadyFrame,
  SessionsFrame,
} from "../../wire/live/live-frames.ts";

/** The state of the connection to the bridge. Plain data, changed by `stepLive` only. */
export interface LiveState {
  readonly phase: LivePhase;
  /** The first frame of the newest connection. Null before the first connection. */
  readonly ready: ReadyFrame | null;
  /** Milliseconds by which the bridge's clock is ahead of this one. */
  readonly clockOffset: number;
  /** Failed attempts since the last working connection. */
  readonly failures: number;
  /** Time of the last frame. Null before the first. */
  readonly lastFrameAt: number | null;
  readonly lastPingAt: number;
  /** Time of the first ping without a later frame. Null if all pings are answered. */
  readonly unansweredSince: number | null;
  /** A page in the background sends no pings: browsers delay its timers. */
  readonly isVisible: boolean;
  readonly subscriptions: readonly LiveSubscription[];
  readonly topics: readonly LiveTopic[];
  /** For ids of subscriptions and pings. Ids are never reused, so frames of an ended subscription are recognized. */
  readonly nextId: number;
}

/**
 * - `opening`: the socket is being opened, and the bridge has not sent `ready`.
 * - `live`: frames arrive.
 * - `silent`: the socket is open, but the bridge does not answer.
 * - `waiting`: the socket is closed until `retryAt`.
 * - `refused`: the bridge requires a sign-in.
 * - `outdated`: the bridge has another version than this page.
 */
export type LivePhase =
  | { readonly name: "opening"; readonly since: number }
  | { readonly name: "live" }
  | { readonly name: "silent"; readonly since: number }
  | { readonly name: "waiting"; readonly retryAt: number }
  | { readonly name: "refused"; readonly error: LiveError }
  | { readonly name: "outdated" };

export interface LiveSubscription {
  readonly sessionId: string;
  /** The id of the running subscription. Null while there is none. */
  readonly id: string | null;
  /** The position to resume from. Null: the beginning. */
  readonly cursor: string | null;
  /** Time of the next attempt after a failure of the bridge. Null if none is planned. */
  readonly retryAt: number | null;
  readonly attachment: Attachment | null;
}

export type Attachment = Omit<Extract<LiveRequest, { readonly type: "attach" }>, "type" | "id">;

export type LiveInput =
  | { readonly type: "start" }
  | { readonly type: "frame"; readonly frame: LiveFrame }
  | { readonly type: "closed" }
  /** The result of a request after a failed attempt: whether the bridge refuses this page. */
  | { readonly type: "probed"; readonly refusal: LiveError | null }
  | { readonly type: "tick" }
  /** The network is back, or a person asks for an attempt. */
  | { readonly type: "wake" }
  | { readonly type: "visibility"; readonly isVisible: boolean }
  | { readonly type: "subscribe"; readonly sessionId: string }
  | { readonly type: "unsubscribe"; readonly sessionId: string }
  | { readonly type: "attach"; readonly sessionId: string; readonly attachment: Attachment }
  | { readonly type: "detach"; readonly sessionId: string }
  | { readonly type: "watch"; readonly topic: LiveTopic };

/** An input with its time, in milliseconds, and a random number from 0 to 1. */
export type TimedLiveInput = LiveInput & { readonly at: number; readonly random: number };

export type LiveEffect =
  | { readonly type: "connect" }
  | { readonly type: "disconnect" }
  | { readonly type: "send"; readonly request: LiveRequest }
  /** Asks the bridge over HTTP whether it refuses this page: a browser hides the response to a failed handshake. */
  | { readonly type: "probe" }
  | { readonly type: "reload" }
  | { readonly type: "session"; readonly sessionId: string; readonly change: SessionChange }
  | { readonly type: "sessions"; readonly frame: SessionsFrame }
  | { readonly type: "inbox"; readonly frame: InboxFrame };

export type SessionChange =
  | { readonly type: "events"; readonly events: readonly Envelope[] }
  /** The view has reached the end of the log. */
  | { readonly type: "live" }
  | { readonly type: "gap"; readonly error: LiveError }
  /** The log is read again from its beginning. */
  | { readonly type: "restart" }
  | { readonly type: "ended"; readonly error: LiveError }
  | { readonly type: "attached"; readonly frame: AttachedFrame }
  | { readonly type: "refused"; readonly error: LiveError };

export interface LiveStep {
  readonly state: LiveState;
  readonly effects: readonly LiveEffect[];
}

export function createLiveState(): LiveState {
  return {
    phase: { name: "waiting", retryAt: Infinity },
    ready: null,
    clockOffset: 0,
    failures: 0,
    lastFrameAt: null,
    lastPingAt: 0,
    unansweredSince: null,
    isVisible: true,
    subscriptions: [],
    topics: [],
    nextId: 1,
  };
}
