import type { AgentEvent, AgentEventType } from "../../../domain/agent-event.ts";
import { INSTRUCTIONS_AS_TEXT } from "../anomaly.ts";
import type { Emit } from "../../../domain/codec.ts";
import type { Envelope } from "../../../domain/envelope.ts";
import { addUsage } from "../../../domain/usage.ts";
import { approvalRequested, approvalResolved } from "./approval-events.ts";
import { toolAnnounced, toolCalled, toolInputDelta } from "./call-events.ts";
import { begin, cancel, finishTurn, pause, startTurn } from "./lifecycle.ts";
import { messageReplaced, textDelta, textFinished } from "./message-events.ts";
import { toolFinished } from "./result-events.ts";
import type { StreamEvent } from "./stream-event.ts";
import type { StreamState } from "./stream-state.ts";
import { thoughtDelta, thoughtFinished } from "./thought-events.ts";

/** What an event comes to: either of the two, and never neither. */
export type StreamRule<Event extends AgentEvent> =
  | { readonly silent: string; readonly encode?: undefined }
  | { readonly silent?: undefined; readonly encode: Encode<Event> };

type Encode<Event extends AgentEvent> = (
  state: StreamState,
  event: Event,
  emit: Emit<StreamEvent>,
  envelope: Envelope,
) => void;

export type EventOf<Type extends AgentEventType> = Extract<AgentEvent, { readonly type: Type }>;

/** Every event of a session and what the response that it belongs to says of it. */
export const STREAM_RULES: { readonly [Type in AgentEventType]: StreamRule<EventOf<Type>> } = {
  "session.opened": silent("a response names its session"),
  "agent.bound": silent("a response names its model"),
  "session.extended": silent("a response has no folders"),
  "session.recovered": silent("what follows from it is told"),
  "session.metadata_changed": silent("a response has metadata of its own"),
  "session.titled": silent("a response has no title"),
  "session.configured": silent("what the mode refuses is told with its call"),
  "history.given": silent("it is the request's, who knows it"),
  "prompt.accepted": mapped((state, event, emit, envelope) => {
    if (state.begun === null) begin(state, event, emit, envelope);
  }),
  "results.given": mapped((state, event, emit, envelope) => {
    if (state.begun === null) begin(state, event, emit, envelope);
  }),
  "prompt.withdrawn": mapped((state, { promptId }, emit) => {
    if (promptId === state.begun?.promptId) cancel(state, emit);
  }),
  "prompt.forgotten": silent("whoever asks for it is told that it is not there"),
  "turn.started": mapped((state, { turnId, promptId }, emit) => {
    if (promptId === state.begun?.promptId) startTurn(state, turnId, emit);
  }),
  "turn.paused": mapped(pause),
  "turn.finished": mapped(finishTurn),
  "upstream.opened": silent("the provider's side is no matter of the caller's"),
  "upstream.settled": silent("the provider's side is no matter of the caller's"),
  "call.started": silent("the provider's side is no matter of the caller's"),
  "call.finished": mapped((state, { usage }) => {
    if (usage !== null) state.usage = state.usage === null ? usage : addUsage(state.usage, usage);
  }),
  "call.lost": silent("what it left open is closed as cut"),
  "message.sent": mapped((state, { origin, promptId }) => {
    const isOwn = promptId === state.begun?.promptId;
    if (isOwn && origin === "instructions") state.anomalies.push(INSTRUCTIONS_AS_TEXT);
  }),
  "message.started": mapped((state, { messageId, role }, _, { seq }) => {
    if (!state.messages.has(messageId)) state.messages.set(messageId, { role, seq, reason: null });
  }),
  "message.finished": mapped((state, { messageId, reason, interrupted }) => {
    const message = state.messages.get(messageId);
    if (message !== undefined) message.reason = reason;
    const last = state.pending.at(-1);
    if (interrupted === true && last?.messageId === messageId) last.isCut = true;
  }),
  "message.replaced": mapped(messageReplaced),
  "text.delta": mapped(textDelta),
  "text.finished": mapped(textFinished),
  "thought.delta": mapped(thoughtDelta),
  "thought.finished": mapped(thoughtFinished),
  "tool.announced": mapped(toolAnnounced),
  "tool.input.delta": mapped(toolInputDelta),
  "tool.called": mapped(toolCalled),
  "tool.examined": silent("what follows from it is told"),
  "policy.decided": silent("the end of the call says it"),
  "tool.started": silent("the call is open until it ends"),
  "tool.awaited": silent("the call is open until it ends"),
  "tool.spawned": silent("a process group is the session's own"),
  "tool.program.ended": silent("a process group is the session's own"),
  "tool.progressed": silent("the specification has no word for it"),
  "tool.finished": mapped(toolFinished),
  "plan.updated": silent("the call that made it is told"),
  "approval.requested": mapped(approvalRequested),
  "approval.routed": silent("the caller waits; clients that can decide are asked elsewhere"),
  "approval.voted": silent("the caller waits; whoever can answer is asked elsewhere"),
  "approval.resolved": mapped(approvalResolved),
  "approvals.doubted": silent("whoever has to be asked is asked again"),
  "grant.given": silent("it is no matter of one response"),
  "grant.revoked": silent("it is no matter of one response"),
  "client.attached": silent("other clients are no matter of the caller's"),
  "client.seen": silent("other clients are no matter of the caller's"),
  "client.detached": silent("other clients are no matter of the caller's"),
  "control.passed": silent("other clients are no matter of the caller's"),
  "host.requested": silent("it is between the session and a client"),
  "host.answered": silent("it is between the session and a client"),
  "usage.reported": mapped((state, { usage, latencyMs }) => {
    state.steps.push(latencyMs === undefined ? { usage } : { usage, latencyMs });
  }),
  "hook.fired": silent("the specification has no word for it"),
  "activity.seen": silent("the specification has no word for it"),
  "diagnostic.raised": silent("for the operator, who reads the log"),
  "unknown.reported": silent("for the operator, who reads the log"),
};

function silent(why: string): { readonly silent: string } {
  return { silent: why };
}

function mapped<Event extends AgentEvent>(
  encode: Encode<Event>,
): { readonly encode: Encode<Event> } {
  return { encode };
}
