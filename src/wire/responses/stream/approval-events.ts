import type { ApprovalRequested, ApprovalResolved } from "../../../domain/agent-event.ts";
import type { Emit } from "../../../domain/codec.ts";
import { callIdOf } from "../ids.ts";
import type { AwaitedApproval, StreamEvent } from "./stream-event.ts";
import { sessionOf, tell, type StreamState } from "./stream-state.ts";

/** The response has it while it waits. The specification has no event for it: those who want ours are told. */
export function approvalRequested(
  state: StreamState,
  { approvalId, question, action, about, deadline }: ApprovalRequested,
  emit: Emit<StreamEvent>,
): void {
  const approval: AwaitedApproval = {
    id: approvalId,
    question,
    action,
    call_id: question === "lost-call" ? null : callIdOf(sessionOf(state), about),
    expires_at: Math.ceil(deadline / 1000),
  };
  state.approvals.set(approvalId, approval);
  if (state.recorded.trace === "extension")
    tell(state, { type: "spanline:approval.requested", approval }, emit);
}

export function approvalResolved(
  state: StreamState,
  { approvalId, decision, by }: ApprovalResolved,
  emit: Emit<StreamEvent>,
): void {
  if (!state.approvals.delete(approvalId) || state.recorded.trace !== "extension") return;
  tell(state, { type: "spanline:approval.resolved", approval_id: approvalId, decision, by }, emit);
}
