import { computeBackoff } from "../../async/retry.ts";
import {
  LIVE_PROTOCOL,
  type LiveFrame,
  type LiveRequest,
  type ReadyFrame,
} from "../../wire/live/live-frames.ts";
import type { LiveEffect, LiveState, LiveStep, TimedLiveInput } from "./live-state.ts";
import {
  addSubscription,
  attachTo,
  closeSubscriptions,
  detachFrom,
  openSubscriptions,
  receiveSessionFrame,
  removeSubscription,
} from "./live-subscriptions.ts";

/** Milliseconds between the pings of a visible page. */
const PING_MS = 1000;
/** Milliseconds without an answer to a ping after which the page reports an outage: at most 2 s after its start. */
const SILENT_MS = 750;
/** Milliseconds of silence after which the socket is replaced. */
const STALLED_MS = 5000;
/** Milliseconds from the start of an attempt to `ready`. */
const HANDSHAKE_MS = 8000;
const BACKOFF = { first: 250, longest: 5000 };

/** The next state of the connection, and the effects to perform in this order. */
export function stepLive(state: LiveState, input: TimedLiveInput): LiveStep {
  switch (input.type) {
    case "start":
      return connect(state, input.at);
    case "frame":
      return receiveFrame(state, input.frame, input.at);
    case "closed":
      return handleClose(state, input);
    case "probed":
      return input.refusal === null || state.phase.name !== "waiting"
        ? { state, effects: [] }
        : { state: { ...state, phase: { name: "refused", error: input.refusal } }, effects: [] };
    case "tick":
      return tick(state, input);
    case "wake":
      return wake(state, input.at);
    case "visibility": {
      const { isVisible, at } = input;
      const visible = { ...state, isVisible };
      return isVisible ? wake(visible, at) : { state: visible, effects: [] };
    }
    case "subscribe":
      return addSubscription(state, input.sessionId);
    case "unsubscribe":
      return removeSubscription(state, input.sessionId);
    case "attach":
      return attachTo(state, input.sessionId, input.attachment);
    case "detach":
      return detachFrom(state, input.sessionId);
    case "watch":
      return watch(state, input.topic);
    default:
      return input satisfies never;
  }
}

/** Whether requests can be sent. */
function isConnected({ phase }: Pick<LiveState, "phase">): boolean {
  return phase.name === "live" || phase.name === "silent";
}

function connect(state: LiveState, at: number): LiveStep {
  const phase = { name: "opening", since: at } as const;
  return { state: { ...state, phase, unansweredSince: null }, effects: [{ type: "connect" }] };
}

function receiveFrame(state: LiveState, frame: LiveFrame, at: number): LiveStep {
  if (frame.type === "ready") return receiveReady(state, frame, at);
  // Frames before `ready` and after the end of a connection do not exist in the protocol.
  if (!isConnected(state)) return { state, effects: [] };
  const phase = { name: "live" } as const;
  const nextState: LiveState = { ...state, phase, lastFrameAt: at, unansweredSince: null };
  switch (frame.type) {
    case "pong":
      return { state: nextState, effects: [] };
    case "sessions":
      return { state: nextState, effects: [{ type: "sessions", frame }] };
    case "inbox":
      return { state: nextState, effects: [{ type: "inbox", frame }] };
    default:
      return receiveSessionFrame(nextState, frame, at);
  }
}

function receiveReady(state: LiveState, ready: ReadyFrame, at: number): LiveStep {
  const isOther = state.ready !== null && state.ready.version !== ready.version;
  if (ready.protocol !== LIVE_PROTOCOL || isOther) {
    const outdated: LiveState = { ...state, ready, phase: { name: "outdated" } };
    const reload: LiveEffect[] = isOther ? [{ type: "reload" }] : [];
    return { state: outdated, effects: [{ type: "disconnect" }, ...reload] };
  }
  const phase = { name: "live" } as const;
  const clockOffset = ready.now - at;
  const times = { clockOffset, lastFrameAt: at, lastPingAt: at };
  const live = { ...state, ...times, phase, ready, failures: 0 };
  const watches = state.topics.map((topic) => sendRequest({ type: "watch", topic }));
  const { state: open, effects } = openSubscriptions(live, () => true);
  return { state: open, effects: [...watches, ...effects] };
}

function handleClose(state: LiveState, { at, random }: TimedLiveInput): LiveStep {
  const { phase, failures } = state;
  if (phase.name === "refused" || phase.name === "outdated") return { state, effects: [] };
  const retryAt = at + computeBackoff(failures + 1, random, BACKOFF);
  const closed: LiveState = {
    ...closeSubscriptions(state),
    phase: { name: "waiting", retryAt },
    failures: failures + 1,
    unansweredSince: null,
  };
  // Only an attempt that failed before `ready` may have been refused.
  return { state: closed, effects: phase.name === "opening" ? [{ type: "probe" }] : [] };
}

function tick(state: LiveState, input: TimedLiveInput): LiveStep {
  const { phase } = state;
  const { at } = input;
  switch (phase.name) {
    case "opening":
      return at - phase.since < HANDSHAKE_MS ? { state, effects: [] } : replaceSocket(state, input);
    case "waiting":
      return at < phase.retryAt ? { state, effects: [] } : connect(state, at);
    case "silent":
      return at - phase.since < STALLED_MS ? ping(state, at) : replaceSocket(state, input);
    case "live":
      return ping(state, at);
    case "refused":
    case "outdated":
      return { state, effects: [] };
    default:
      return phase satisfies never;
  }
}

/** Sends a ping if one is due, and notices a missing answer. */
function ping(state: LiveState, at: number): LiveStep {
  const { unansweredSince, phase } = state;
  const isSilent = unansweredSince !== null && at - unansweredSince >= SILENT_MS;
  const noticed: LiveState =
    isSilent && phase.name === "live"
      ? { ...state, phase: { name: "silent", since: unansweredSince } }
      : state;
  const { state: retried, effects } = openSubscriptions(
    noticed,
    ({ retryAt }) => retryAt !== null && retryAt <= at,
  );
  if (!state.isVisible || at - state.lastPingAt < PING_MS) return { state: retried, effects };
  const { nextId } = retried;
  const pinged = { nextId: nextId + 1, lastPingAt: at, unansweredSince: unansweredSince ?? at };
  return {
    state: { ...retried, ...pinged },
    effects: [...effects, sendRequest({ type: "ping", id: nextId })],
  };
}

/** Gives up a socket which does not answer. Its close event is ignored. */
function replaceSocket(state: LiveState, input: TimedLiveInput): LiveStep {
  const closed = handleClose(state, input);
  return { state: closed.state, effects: [{ type: "disconnect" }, ...closed.effects] };
}

function wake(state: LiveState, at: number): LiveStep {
  const { phase } = state;
  if (phase.name === "waiting" && phase.retryAt !== Infinity)
    return connect({ ...state, failures: 0 }, at);
  // Timers and frames may have been delayed in the background, so the silence is counted from now.
  if (phase.name !== "live") return { state, effects: [] };
  return ping({ ...state, unansweredSince: null, lastPingAt: -Infinity }, at);
}

function watch(state: LiveState, topic: LiveState["topics"][number]): LiveStep {
  if (state.topics.includes(topic)) return { state, effects: [] };
  const topics = [...state.topics, topic];
  const effects = isConnected(state) ? [sendRequest({ type: "watch", topic })] : [];
  return { state: { ...state, topics }, effects };
}

function sendRequest(request: LiveRequest): LiveEffect {
  return { type: "send", request };
}
