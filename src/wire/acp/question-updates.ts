import type { ApprovalRequested, ApprovalResolved } from "../../domain/agent-event.ts";
import type { Emit } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/envelope.ts";
import { approvalRequest, permissionRequest, type AskedPlace } from "./permission-request.ts";
import { previewed } from "./tool-updates.ts";
import { tellVendor, workspaceOf, type AcpOutput, type UpdateState } from "./update-state.ts";
import { hitlRequestUpdate, hitlResolvedUpdate } from "./vendor-updates.ts";

/** Puts a question to the client, where it is one that is asked. Hosts are told of those that are not about a tool's start. */
export function askQuestion(
  state: UpdateState,
  approval: ApprovalRequested,
  emit: Emit<AcpOutput>,
  { sessionId, at, turnId: within }: Envelope,
): void {
  const turnId = within ?? null;
  previewed(state, approval);
  const { agent, lineBytes } = state;
  const place = { sessionId, at, turnId, agent, lineBytes, workspace: workspaceOf(state) };
  const asked = { approval, request: permissionRequest(approval, place), turnId };
  state.asked.set(approval.approvalId, asked);
  if (isOfItsOwn(approval)) tellRequest(state, approval, place, emit);
  if (state.isLive && state.isAsked) emit({ type: "ask", ...asked });
}

export function endQuestion(
  state: UpdateState,
  { approvalId, decision }: ApprovalResolved,
  emit: Emit<AcpOutput>,
): void {
  const asked = state.asked.get(approvalId);
  state.asked.delete(approvalId);
  if (asked !== undefined && isOfItsOwn(asked.approval)) {
    const fields = { requestId: approvalId, kind: KIND, outcome: decision };
    tellVendor(state, hitlResolvedUpdate(fields), emit);
  }
  emit({ type: "decided", approvalId });
}

/** What came of a tool, or what is to become of a conversation: nobody but a person knows. */
function isOfItsOwn({ question }: ApprovalRequested): boolean {
  return question !== "run";
}

const KIND = "question";

function tellRequest(
  state: UpdateState,
  approval: ApprovalRequested,
  place: AskedPlace,
  emit: Emit<AcpOutput>,
): void {
  const payload = { approval_request: approvalRequest(approval, place) };
  const fields = { requestId: approval.approvalId, kind: KIND, payload };
  tellVendor(state, hitlRequestUpdate(fields), emit);
}
