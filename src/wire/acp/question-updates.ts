import type { ApprovalRequested, ApprovalResolved } from "../../domain/agent-event.ts";
import { isYes } from "../../domain/answers.ts";
import type { Emit } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/envelope.ts";
import { lineLimitOf } from "./client-profile.ts";
import { approvalRequest, permissionRequest, type AskedPlace } from "./permission-request.ts";
import { previewed, rewritten } from "./tool-updates.ts";
import {
  narrowedAgent,
  tellVendor,
  workspaceOf,
  type AcpOutput,
  type OpenQuestion,
  type UpdateState,
} from "./update-state.ts";
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
  const { lineBytes } = state;
  const agent = narrowedAgent(state);
  const place = { sessionId, at, turnId, agent, lineBytes, workspace: workspaceOf(state) };
  const question = { approval, place };
  state.asked.set(approval.approvalId, question);
  if (isOfItsOwn(approval)) tellRequest(state, approval, place, emit);
  if (state.isLive && state.isAsked) sendQuestion(state, question, emit);
}

/** Sends a question that is open to the client. */
export function sendQuestion(
  state: UpdateState,
  { approval, place }: OpenQuestion,
  emit: Emit<AcpOutput>,
): void {
  const lineBytes = lineLimitOf(state.profile(), state.lineBytes);
  const request = permissionRequest(approval, { ...place, lineBytes });
  emit({ type: "ask", approval, request, turnId: place.turnId });
}

export function endQuestion(
  state: UpdateState,
  event: ApprovalResolved,
  emit: Emit<AcpOutput>,
): void {
  const { approvalId, decision, input } = event;
  const asked = state.asked.get(approvalId);
  state.asked.delete(approvalId);
  if (asked !== undefined && isOfItsOwn(asked.approval)) {
    const fields = { requestId: approvalId, kind: KIND, outcome: decision };
    tellVendor(state, hitlResolvedUpdate(fields), emit);
  }
  if (asked !== undefined && input !== undefined && isYes(decision))
    rewritten(state, asked.approval.about, input, emit);
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
