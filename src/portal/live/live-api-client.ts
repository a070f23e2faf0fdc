import type { Clock } from "../../platform/clock.ts";
import { decodeLiveFrame } from "../../wire/live/decode-live-frame.ts";
import type { LiveError, ReadyFrame } from "../../wire/live/live-frames.ts";
import type { ActionResult } from "../state/session-actions.ts";
import {
  applyInboxFrame,
  applySessionsFrame,
  NO_REQUESTS,
  NO_SESSIONS,
  type InboxList,
  type SessionList,
} from "./list-stores.ts";
import {
  createLiveState,
  type Attachment,
  type LiveEffect,
  type LiveInput,
  type LiveState,
  type SessionChange,
} from "./live-state.ts";
import { createSnapshotFeed, type SnapshotFeed, type SessionSnapshot } from "./snapshot-feed.ts";
import { stepLive } from "./step-live.ts";
import { createValueStore, type ValueStore } from "./value-store.ts";

export interface LiveApiClientOptions {
  readonly openSocket: OpenLiveSocket;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Resolves with the bridge's refusal of this page, or with null if there is none or the bridge is unreachable. */
  readonly probe: () => Promise<LiveError | null>;
  /** Loads the page of another version of the bridge. */
  readonly reload: () => void;
}

export type OpenLiveSocket = (handlers: LiveSocketHandlers) => LiveSocket;

export interface LiveSocketHandlers {
  readonly onMessage: (data: unknown) => void;
  readonly onClose: () => void;
}

export interface LiveSocket {
  send(text: string): void;
  close(): void;
}

/** The connection as shown to people. */
export interface ConnectionState {
  readonly status: "connecting" | "live" | "reconnecting" | "refused" | "outdated";
  /** Time of the last frame. Null before the first. */
  readonly lastFrameAt: number | null;
  readonly ready: ReadyFrame | null;
  /** Milliseconds by which the bridge's clock is ahead of this one. */
  readonly clockOffset: number;
  /** Set if the status is `refused`. */
  readonly error: LiveError | null;
}

export interface LiveApiClient {
  readonly connection: ValueStore<ConnectionState>;
  readonly sessions: ValueStore<SessionList>;
  readonly inbox: ValueStore<InboxList>;
  start(): void;
  /** Tries to connect at once. */
  wake(): void;
  setVisible(isVisible: boolean): void;
  /** Follows a session. A session without a view stays subscribed until several others have been followed since. */
  follow(sessionId: string): ValueStore<SessionSnapshot>;
  /** Shows this page among the clients of a followed session. */
  attach(sessionId: string, attachment: Attachment): Promise<ActionResult>;
  detach(sessionId: string): void;
}

/** Milliseconds between two checks of the connection. */
export const TICK_MS = 250;
/** Sessions which stay subscribed without a view, so that a return to one of them shows the session at once. */
export const MAX_FOLLOWED = 8;

export function createLiveApiClient(options: LiveApiClientOptions): LiveApiClient {
  return new BrowserLiveApiClient(options);
}

class BrowserLiveApiClient implements LiveApiClient {
  readonly #options: LiveApiClientOptions;
  readonly #connection = createValueStore<ConnectionState>(describeConnection(createLiveState()));
  readonly #sessions = createValueStore(NO_SESSIONS);
  readonly #inbox = createValueStore(NO_REQUESTS);
  /** The session followed last is the last entry. */
  readonly #feeds = new Map<string, SnapshotFeed>();
  readonly #attaching = new Map<string, (result: ActionResult) => void>();
  #state: LiveState = createLiveState();
  #socket: LiveSocket | undefined;
  #isTicking = false;

  constructor(options: LiveApiClientOptions) {
    this.#options = options;
  }

  readonly connection: ValueStore<ConnectionState> = this.#connection;
  readonly sessions: ValueStore<SessionList> = this.#sessions;
  readonly inbox: ValueStore<InboxList> = this.#inbox;

  start(): void {
    this.#handle({ type: "watch", topic: "sessions" });
    this.#handle({ type: "watch", topic: "inbox" });
    this.#handle({ type: "start" });
    if (!this.#isTicking) this.#tick();
  }

  wake(): void {
    this.#handle({ type: "wake" });
  }

  setVisible(isVisible: boolean): void {
    this.#handle({ type: "visibility", isVisible });
  }

  follow(sessionId: string): ValueStore<SessionSnapshot> {
    const feed = this.#feeds.get(sessionId) ?? createSnapshotFeed(sessionId, this.#options.clock);
    this.#feeds.delete(sessionId);
    this.#feeds.set(sessionId, feed);
    this.#handle({ type: "subscribe", sessionId });
    for (const [oldest, { store }] of [...this.#feeds].slice(0, -MAX_FOLLOWED)) {
      if (store.isObserved()) continue;
      this.#feeds.delete(oldest);
      this.#handle({ type: "unsubscribe", sessionId: oldest });
    }
    return feed.store;
  }

  attach(sessionId: string, attachment: Attachment): Promise<ActionResult> {
    this.#finishAttaching(sessionId, createFailure("aborted", "Another attempt was made"));
    return new Promise((resolve) => {
      this.#attaching.set(sessionId, resolve);
      this.#options.clock.schedule(ATTACH_MS, () => {
        if (this.#attaching.get(sessionId) !== resolve) return;
        const error = createFailure("deadline_exceeded", "The bridge did not answer in time");
        this.#finishAttaching(sessionId, error);
      });
      this.#handle({ type: "attach", sessionId, attachment });
    });
  }

  detach(sessionId: string): void {
    this.#handle({ type: "detach", sessionId });
  }

  #tick(): void {
    this.#isTicking = true;
    this.#handle({ type: "tick" });
    this.#options.clock.schedule(TICK_MS, () => this.#tick());
  }

  #handle(input: LiveInput): void {
    const { clock, random } = this.#options;
    const { state, effects } = stepLive(this.#state, {
      ...input,
      at: clock.now(),
      random: random(),
    });
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
    const nextState = describeConnection(this.#state);
    if (!isSameConnection(nextState, this.#connection.get())) this.#connection.set(nextState);
  }

  #perform(effect: LiveEffect): void {
    switch (effect.type) {
      case "connect":
        return this.#connect();
      case "disconnect":
        return this.#disconnect();
      case "send":
        return this.#socket?.send(JSON.stringify(effect.request));
      case "probe":
        void this.#options.probe().then((refusal) => this.#handle({ type: "probed", refusal }));
        return;
      case "reload":
        return this.#options.reload();
      case "session":
        return this.#applyChange(effect.sessionId, effect.change);
      case "sessions":
        return this.#sessions.set(applySessionsFrame(this.#sessions.get(), effect.frame));
      case "inbox":
        return this.#inbox.set(applyInboxFrame(this.#inbox.get(), effect.frame));
      default:
        return effect satisfies never;
    }
  }

  #connect(): void {
    this.#disconnect();
    // Events of a socket that was replaced are ignored.
    const isCurrent = (): boolean => this.#socket === socket;
    const socket: LiveSocket = this.#options.openSocket({
      onMessage: (data) => {
        if (!isCurrent()) return;
        const decoded = decodeLiveFrame(data);
        // A frame of an unknown type belongs to a newer bridge. An invalid frame has no effect either.
        if (decoded.ok) this.#handle({ type: "frame", frame: decoded.frame });
      },
      onClose: () => {
        if (!isCurrent()) return;
        this.#socket = undefined;
        this.#handle({ type: "closed" });
      },
    });
    this.#socket = socket;
  }

  #disconnect(): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
  }

  #applyChange(sessionId: string, change: SessionChange): void {
    if (change.type === "attached") this.#finishAttaching(sessionId, SUCCESS);
    if (change.type === "refused")
      this.#finishAttaching(sessionId, { ok: false, error: change.error });
    this.#feeds.get(sessionId)?.apply(change);
  }

  #finishAttaching(sessionId: string, result: ActionResult): void {
    const resolve = this.#attaching.get(sessionId);
    this.#attaching.delete(sessionId);
    resolve?.(result);
  }
}

const ATTACH_MS = 10_000;
const SUCCESS: ActionResult = { ok: true, value: undefined };

function createFailure(code: string, message: string): ActionResult {
  return { ok: false, error: { code, message } };
}

function describeConnection(state: LiveState): ConnectionState {
  const { phase, ready, lastFrameAt, clockOffset } = state;
  const error = phase.name === "refused" ? phase.error : null;
  const facts = { ready, lastFrameAt, clockOffset, error };
  switch (phase.name) {
    case "live":
    case "refused":
    case "outdated":
      return { status: phase.name, ...facts };
    case "opening":
    case "waiting":
    case "silent":
      return { status: ready === null ? "connecting" : "reconnecting", ...facts };
    default:
      return phase satisfies never;
  }
}

/** While the connection is live, the time of the last frame is not shown. */
function isSameConnection(left: ConnectionState, right: ConnectionState): boolean {
  const isSame =
    left.status === right.status && left.ready === right.ready && left.error === right.error;
  return isSame && (left.status === "live" || left.lastFrameAt === right.lastFrameAt);
}
