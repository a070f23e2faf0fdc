import type {
  ApprovalRequested,
  ApprovalResolved,
  ApprovalRoute,
  ApprovalRouted,
} from "../../domain/agent-event.ts";
import { isYes } from "../../domain/answers.ts";
import type { Emit } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/envelope.ts";
import { liveClients, mayDecide } from "../../domain/live-client.ts";
import { lineLimitOf } from "./client-profile.ts";
import { clientRow } from "./live-requests.ts";
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
import {
  hitlRequestUpdate,
  hitlResolvedUpdate,
  liveSessionPermissionRouteUpdate,
} from "./vendor-updates.ts";

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
  tellRoute(state, approval, approval.routedTo, emit);
  if (state.isLive && isAskedAbout(state, question)) sendQuestion(state, question, emit);
}

/** Tells hosts that an open request is sent to another controller from now on. */
export function questionRouted(
  state: UpdateState,
  { approvalId, routedTo }: ApprovalRouted,
  emit: Emit<AcpOutput>,
): void {
  const question = state.asked.get(approvalId);
  if (question !== undefined) tellRoute(state, question.approval, routedTo, emit);
}

function tellRoute(
  state: UpdateState,
  { approvalId: requestId, about: toolCallId }: ApprovalRequested,
  route: ApprovalRoute | undefined,
  emit: Emit<AcpOutput>,
): void {
  const client = liveClients(state.live).find(({ clientId }) => clientId === route?.clientId);
  if (route === undefined || client === undefined) return;
  const { metadata } = route;
  const fields = { requestId, toolCallId, client: clientRow(client), metadata };
  tellVendor(state, liveSessionPermissionRouteUpdate(fields), emit);
}

/** Sends the open questions that the client has to decide by now, and withdraws those that it has not any more. */
export function routeQuestions(state: UpdateState, emit: Emit<AcpOutput>): void {
  if (!state.isLive) return;
  for (const [approvalId, question] of state.asked) {
    const isSent = state.sentQuestions.has(approvalId);
    const isAsked = isAskedAbout(state, question);
    if (isAsked && !isSent) sendQuestion(state, question, emit);
    if (isAsked || !isSent) continue;
    state.sentQuestions.delete(approvalId);
    emit({ type: "decided", approvalId });
  }
}

/** A client that no event names is asked what its principal may answer. */
function isAskedAbout(state: UpdateState, { place: { turnId } }: OpenQuestion): boolean {
  const { live, turn, prompters } = state;
  const own = liveClients(live).find(({ clientId }) => clientId === state.clientId);
  if (own === undefined) return true;
  const prompter = turn?.turnId === turnId ? prompters.get(turn?.promptId ?? "") : undefined;
  return mayDecide(own, prompter);
}

function sendQuestion(
  state: UpdateState,
  { approval, place }: OpenQuestion,
  emit: Emit<AcpOutput>,
): void {
  state.sentQuestions.add(approval.approvalId);
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
  state.sentQuestions.delete(approvalId);
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
