import type { LiveError, LiveFrame } from "../../wire/live/live-frames.ts";
import type {
  Attachment,
  LiveEffect,
  LiveState,
  LiveStep,
  LiveSubscription,
  SessionChange,
} from "./live-state.ts";

/** Milliseconds before a subscription that failed at the bridge is tried again. */
const RETRY_MS = 2000;

/** The session does not exist, or this page may not read it: the subscription stays ended. */
const FINAL_CODES = new Set(["not_found", "unauthorized", "access_denied"]);
/** The bridge can serve the subscription later. */
const TRANSIENT_CODES = new Set(["service_failed", "store_failed", "overloaded", "store_closed"]);

type SessionFrame = Exclude<LiveFrame, { readonly type: "ready" | "pong" | "sessions" | "inbox" }>;

export function addSubscription(state: LiveState, sessionId: string): LiveStep {
  const known = state.subscriptions.find((one) => one.sessionId === sessionId);
  // A person who opens a session again may have been given access in the meantime.
  if (known !== undefined) return openSubscriptions(state, (one) => one === known);
  const added = { sessionId, id: null, cursor: null, retryAt: null, attachment: null };
  const subscriptions = [...state.subscriptions, added];
  return openSubscriptions({ ...state, subscriptions }, (one) => one === added);
}

export function removeSubscription(state: LiveState, sessionId: string): LiveStep {
  const removed = state.subscriptions.find((known) => known.sessionId === sessionId);
  if (removed === undefined) return { state, effects: [] };
  const subscriptions = state.subscriptions.filter((known) => known !== removed);
  const { id } = removed;
  const effects: LiveEffect[] =
    id === null ? [] : [{ type: "send", request: { type: "unsubscribe", id } }];
  return { state: { ...state, subscriptions }, effects };
}

/** Attaches this page to a session, now and after each reconnect. */
export function attachTo(state: LiveState, sessionId: string, attachment: Attachment): LiveStep {
  const known = state.subscriptions.find((one) => one.sessionId === sessionId);
  if (known === undefined) return { state, effects: [] };
  // A takeover happens once. After a reconnect, the page attaches without.
  const { takeOver: _, ...later } = attachment;
  const { id } = known;
  const effects: LiveEffect[] =
    id === null ? [] : [{ type: "send", request: { type: "attach", id, ...attachment } }];
  return { state: change(state, { ...known, attachment: later }), effects };
}

export function detachFrom(state: LiveState, sessionId: string): LiveStep {
  const known = state.subscriptions.find((one) => one.sessionId === sessionId);
  if (known === undefined || known.attachment === null) return { state, effects: [] };
  const { id } = known;
  const effects: LiveEffect[] =
    id === null ? [] : [{ type: "send", request: { type: "detach", id } }];
  return { state: change(state, { ...known, attachment: null }), effects };
}

/** Subscribes to the selected sessions which have no running subscription, from their cursors. */
export function openSubscriptions(
  state: LiveState,
  isSelected: (subscription: LiveSubscription) => boolean,
): LiveStep {
  if (state.phase.name !== "live" && state.phase.name !== "silent") return { state, effects: [] };
  let { nextId } = state;
  const effects: LiveEffect[] = [];
  const subscriptions = state.subscriptions.map((subscription) => {
    if (subscription.id !== null || !isSelected(subscription)) return subscription;
    const { sessionId, cursor, attachment } = subscription;
    const id = `s${nextId}`;
    nextId += 1;
    const position = cursor === null ? {} : { cursor };
    effects.push({ type: "send", request: { type: "subscribe", id, sessionId, ...position } });
    if (attachment !== null)
      effects.push({ type: "send", request: { type: "attach", id, ...attachment } });
    return { ...subscription, id, retryAt: null };
  });
  // Returns the same state without a change, because every tick calls this function.
  return effects.length === 0
    ? { state, effects }
    : { state: { ...state, subscriptions, nextId }, effects };
}

/** The connection is gone. The subscriptions continue at their cursors with the next connection. */
export function closeSubscriptions(state: LiveState): LiveState {
  const subscriptions = state.subscriptions.map((known) => ({ ...known, id: null, retryAt: null }));
  return { ...state, subscriptions };
}

export function receiveSessionFrame(state: LiveState, frame: SessionFrame, at: number): LiveStep {
  const known = state.subscriptions.find(({ id }) => id !== null && id === frame.id);
  // Frames of an ended subscription may still arrive.
  if (known === undefined) return { state, effects: [] };
  switch (frame.type) {
    case "events":
      return advance(state, known, frame.cursor, { type: "events", events: frame.events });
    case "live":
      return advance(state, known, frame.cursor, { type: "live" });
    case "gap":
      return advance(state, known, frame.cursor, { type: "gap", error: frame.error });
    case "attached":
      return { state, effects: [report(known, { type: "attached", frame })] };
    case "refused":
      return { state, effects: [report(known, { type: "refused", error: frame.error })] };
    case "ended":
      return endSubscription(state, known, frame.error, at);
    default:
      return frame satisfies never;
  }
}

function advance(
  state: LiveState,
  known: LiveSubscription,
  cursor: string,
  made: SessionChange,
): LiveStep {
  return { state: change(state, { ...known, cursor }), effects: [report(known, made)] };
}

/** An invalid cursor restarts the subscription from the beginning; a failure of the bridge is tried again later. */
function endSubscription(
  state: LiveState,
  known: LiveSubscription,
  error: LiveError,
  at: number,
): LiveStep {
  const ended = { ...known, id: null };
  if (TRANSIENT_CODES.has(error.code)) {
    return { state: change(state, { ...ended, retryAt: at + RETRY_MS }), effects: [] };
  }
  if (known.cursor === null || FINAL_CODES.has(error.code)) {
    return { state: change(state, ended), effects: [report(known, { type: "ended", error })] };
  }
  const restarted = { ...ended, cursor: null };
  const opened = openSubscriptions(change(state, restarted), (one) => one === restarted);
  return {
    state: opened.state,
    effects: [report(known, { type: "restart" }), ...opened.effects],
  };
}

function change(state: LiveState, subscription: LiveSubscription): LiveState {
  const subscriptions = state.subscriptions.map((known) =>
    known.sessionId === subscription.sessionId ? subscription : known,
  );
  return { ...state, subscriptions };
}

function report({ sessionId }: LiveSubscription, made: SessionChange): LiveEffect {
  return { type: "session", sessionId, change: made };
}
