import type { ApprovalRequested, ApprovalResolved } from "../../../domain/events/session-event.ts";
import type { Emit } from "../../../domain/codec.ts";
import { formatCallId } from "../response-ids.ts";
import type { PendingApproval, StreamEvent } from "./response-stream-event.ts";
import { getSessionId, emitStreamEvent, type StreamState } from "./stream-state.ts";

/** The response has it while it waits. The specification has no event for it: those who want ours are told. */
export function encodeApprovalRequested(
  state: StreamState,
  { approvalId, question, action, subjectId, deadline }: ApprovalRequested,
  emit: Emit<StreamEvent>,
): void {
  const approval: PendingApproval = {
    id: approvalId,
    question,
    action,
    call_id: question === "lost-call" ? null : formatCallId(getSessionId(state), subjectId),
    expires_at: Math.ceil(deadline / 1000),
  };
  state.approvals.set(approvalId, approval);
  if (state.recorded.trace === "extension")
    emitStreamEvent(state, { type: "spanline:approval.requested", approval }, emit);
}

export function encodeApprovalResolved(
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
