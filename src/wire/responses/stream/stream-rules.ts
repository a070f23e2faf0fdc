import type { Emit } from "../../../domain/codec.ts";
import { mapped, silent, silentGroup, type EventRules } from "../../../domain/event-rules.ts";
import type {
  ApprovalRequested,
  ApprovalResolved,
} from "../../../domain/events/approval-events.ts";
import { isAboutToolCall } from "../../../domain/policy/approval-decision.ts";
import { addUsage } from "../../../domain/usage.ts";
import { INSTRUCTIONS_AS_TEXT } from "../anomaly.ts";
import { formatCallId } from "../response-ids.ts";
import {
  encodeToolCallOpened,
  encodeToolCallReceived,
  encodeToolInputDelta,
  encodeToolFinished,
} from "./function-call-events.ts";
import {
  beginResponse,
  cancelResponse,
  finishTurn,
  pauseResponse,
  startTurn,
} from "./lifecycle.ts";
import { encodeMessageReplaced, encodeTextDelta, encodeTextFinished } from "./message-events.ts";
import type { StreamEvent, PendingApproval } from "./response-stream-event.ts";
import { type StreamState, getSessionId, emitStreamEvent } from "./stream-state.ts";
import { encodeThoughtDelta, encodeThoughtFinished } from "./thought-events.ts";

/** The rule for every event of a session: how the stream of a response encodes the event, or why not. */
export const STREAM_RULES: EventRules<StreamState, StreamEvent> = {
  "session.opened": silent("a response names its session"),
  "agent.configured": silent("a response names its model"),
  "session.folders_changed": silent("a response has no folders"),
  "session.recovered": silent("its consequences are sent"),
  "session.metadata_changed": silent("a response has its own metadata"),
  "session.title_changed": silent("a response has no title"),
  "session.mode_changed": silent("a refusal is part of its tool call"),
  "history.imported": silent("part of the request"),
  "prompt.accepted": mapped((state, event, emit, envelope) => {
    if (state.start === null) beginResponse(state, event, emit, envelope);
  }),
  "tool_results.submitted": mapped((state, event, emit, envelope) => {
    if (state.start === null) beginResponse(state, event, emit, envelope);
  }),
  "prompt.withdrawn": mapped((state, { promptId }, emit) => {
    if (promptId === state.start?.promptId) cancelResponse(state, emit);
  }),
  "prompt.hidden": silent("a hidden response is not found"),
  "turn.started": mapped((state, { turnId, promptId }, emit) => {
    if (promptId === state.start?.promptId) startTurn(state, turnId, emit);
  }),
  "turn.paused": mapped(pauseResponse),
  "turn.finished": mapped(finishTurn),
  ...silentGroup("internal to the provider connection", [
    "upstream.opened",
    "upstream.settled",
    "invocation.started",
  ]),
  "invocation.finished": mapped((state, { usage }) => {
    if (usage !== null) state.usage = state.usage === null ? usage : addUsage(state.usage, usage);
  }),
  "invocation.lost": silent("its open items are closed as truncated"),
  "message.sent": mapped((state, { origin, promptId }) => {
    const isOwnPrompt = promptId === state.start?.promptId;
    if (isOwnPrompt && origin === "instructions") state.anomalies.push(INSTRUCTIONS_AS_TEXT);
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
  "message.replaced": mapped(encodeMessageReplaced),
  "text.delta": mapped(encodeTextDelta),
  "text.finished": mapped(encodeTextFinished),
  "thought.delta": mapped(encodeThoughtDelta),
  "thought.finished": mapped(encodeThoughtFinished),
  "tool_call.opened": mapped(encodeToolCallOpened),
  "tool_call.input.delta": mapped(encodeToolInputDelta),
  "tool_call.received": mapped(encodeToolCallReceived),
  "tool_call.paths_resolved": silent("its consequences are sent"),
  "policy.decided": silent("the end of the tool call has the decision"),
  ...silentGroup("the tool call is open until its end", ["tool.started", "tool.waiting_for_host"]),
  ...silentGroup("internal to the session", ["tool.process_started", "tool.process_exited"]),
  ...silentGroup("not part of the specification", [
    "tool.progress",
    "hook.fired",
    "provider.activity",
  ]),
  "tool.finished": mapped(encodeToolFinished),
  "plan.updated": silent("its tool call is sent"),
  "approval.requested": mapped(encodeApprovalRequested),
  "approval.routed": silent("the caller waits; other clients decide"),
  "approval.voted": silent("the caller waits; other clients decide"),
  "approval.resolved": mapped(encodeApprovalResolved),
  "approvals.invalidated": silent("approvals are requested again"),
  ...silentGroup("not specific to a response", ["grant.added", "grant.revoked"]),
  ...silentGroup("injections are not part of a response", [
    "inject.accepted",
    "inject.replaced",
    "inject.revoked",
    "reminder.queued",
    "reminder.replaced",
    "reminder.revoked",
    "reminder.emitted",
    "reminder.recorded",
    "reminder.expired",
  ]),
  ...silentGroup("the caller waits; approvers decide about budgets", [
    "budget.requested",
    "budget.reserved",
    "budget.reached",
    "budget.extended",
    "budget.settled",
  ]),
  ...silentGroup("a response is about its own turn", ["daemon.woken", "daemon.stopped"]),
  ...silentGroup("about the request to the model, not about its response", [
    "compaction.requested",
    "compaction.started",
    "compaction.ended",
    "transcript.compacted",
    "transcript.projected",
  ]),
  ...silentGroup("a worker has its own session", [
    "worker.spawned",
    "worker.progressed",
    "worker.waiting_for_input",
    "worker.completed",
    "worker.failed",
    "worker.stopped",
    "worker.cancelled",
    "worker.reminded",
    "worker.closed",
  ]),
  ...silentGroup("for hosts; its tool call is sent", ["progress.reported", "log.reported"]),
  ...silentGroup("a response has no subscriptions to files", [
    "watch.added",
    "watch.removed",
    "files.changed",
  ]),
  ...silentGroup("its tool call is sent", ["artifact.emitted", "handoff.emitted"]),
  ...silentGroup("about other clients", [
    "client.attached",
    "client.heartbeat",
    "client.detached",
    "controller.changed",
  ]),
  ...silentGroup("between the session and a client", ["host.requested", "host.replied"]),
  "usage.reported": mapped((state, { usage, latencyMs }) => {
    state.steps.push(latencyMs === undefined ? { usage } : { usage, latencyMs });
  }),
  ...silentGroup("for operators; in the log", ["diagnostic.raised", "provider.unknown"]),
};

/**
 * Adds the approval to the waiting response. The specification has no event for approvals, so the Spanline event is
 * sent only in the trace mode `extension`.
 */
function encodeApprovalRequested(
  state: StreamState,
  { approvalId, question, action, subjectId, deadline }: ApprovalRequested,
  emit: Emit<StreamEvent>,
): void {
  const approval: PendingApproval = {
    id: approvalId,
    question,
    action,
    call_id: isAboutToolCall(question) ? formatCallId(getSessionId(state), subjectId) : null,
    expires_at: Math.ceil(deadline / 1000),
  };
  state.approvals.set(approvalId, approval);
  if (state.recorded.trace === "extension")
    emitStreamEvent(state, { type: "spanline:approval.requested", approval }, emit);
}

function encodeApprovalResolved(
  state: StreamState,
  { approvalId, decision, resolvedBy }: ApprovalResolved,
  emit: Emit<StreamEvent>,
): void {
  if (!state.approvals.delete(approvalId) || state.recorded.trace !== "extension") return;
  emitStreamEvent(
    state,
    { type: "spanline:approval.resolved", approval_id: approvalId, decision, by: resolvedBy },
    emit,
  );
}
