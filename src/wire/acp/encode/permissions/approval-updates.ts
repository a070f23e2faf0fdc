import type {
  ApprovalRequested,
  ApprovalResolved,
  ApprovalRoute,
  ApprovalRouted,
} from "../../../../domain/events/approval-events.ts";
import { isApproving } from "../../../../domain/policy/approval-decision.ts";
import type { Emit } from "../../../../domain/codec.ts";
import type { Envelope } from "../../../../domain/events/envelope.ts";
import { listLiveClients, mayDecide } from "../../../../domain/live-client.ts";
import { resolveLineLimit } from "../../decode/client-profile.ts";
import { encodeClient } from "../../decode/live-client-messages.ts";
import type { ApprovalContext } from "./encode-permission-request.ts";
import {
  encodeHitlPayload,
  encodeRequest,
  isStandaloneRequest,
  resolveHitlKind,
  resolveHitlOutcome,
} from "./encode-question.ts";
import { storePreviewDiffs, encodeEditedInput } from "../tools/tool-updates.ts";
import {
  narrowAgent,
  emitVendorUpdate,
  resolveWorkspace,
  type AcpOutput,
  type OpenApproval,
  type UpdateState,
} from "../update-state.ts";
import {
  encodeHitlRequest,
  encodeHitlResolved,
  encodeLiveSessionPermissionRoute,
} from "../vendor-updates.ts";

/**
 * Sends a permission request if this client may decide the approval. Bridge hosts also receive an update for every
 * question that is not about the start of a tool.
 */
export function encodeApprovalRequested(
  state: UpdateState,
  approval: ApprovalRequested,
  emit: Emit<AcpOutput>,
  { sessionId, at, turnId: envelopeTurnId }: Envelope,
): void {
  const turnId = envelopeTurnId ?? null;
  storePreviewDiffs(state, approval);
  const { lineBytes } = state;
  const agent = narrowAgent(state);
  const { lineage } = state;
  const workspace = resolveWorkspace(state);
  const context = { sessionId, at, turnId, agent, lineBytes, workspace, lineage };
  const question = { approval, context };
  state.openApprovals.set(approval.approvalId, question);
  if (isStandaloneRequest(approval)) emitHitlRequest(state, approval, context, emit);
  tellRoute(state, approval, approval.routedTo, emit);
  if (state.isLive && isAskedAbout(state, question)) sendPermissionRequest(state, question, emit);
}

/** Tells bridge hosts that an open request is now routed to another controller. */
export function emitRouteChange(
  state: UpdateState,
  { approvalId, routedTo }: ApprovalRouted,
  emit: Emit<AcpOutput>,
): void {
  const question = state.openApprovals.get(approvalId);
  if (question !== undefined) tellRoute(state, question.approval, routedTo, emit);
}

function tellRoute(
  state: UpdateState,
  { approvalId: requestId, subjectId: toolCallId }: ApprovalRequested,
  route: ApprovalRoute | undefined,
  emit: Emit<AcpOutput>,
): void {
  const client = listLiveClients(state.clients).find(
    ({ clientId }) => clientId === route?.clientId,
  );
  if (route === undefined || client === undefined) return;
  const { metadata } = route;
  const fields = { requestId, toolCallId, client: encodeClient(client), metadata };
  emitVendorUpdate(state, encodeLiveSessionPermissionRoute(fields), emit);
}

/**
 * Sends open requests which this client may now decide, and withdraws sent requests which this client may no longer
 * decide.
 */
export function routeQuestions(state: UpdateState, emit: Emit<AcpOutput>): void {
  if (!state.isLive) return;
  for (const [approvalId, question] of state.openApprovals) {
    const isSent = state.sentQuestions.has(approvalId);
    const isAsked = isAskedAbout(state, question);
    if (isAsked && !isSent) sendPermissionRequest(state, question, emit);
    if (isAsked || !isSent) continue;
    state.sentQuestions.delete(approvalId);
    emit({ type: "decided", approvalId });
  }
}

/**
 * A client without an attach event in the log receives every request; the session then checks its principal's
 * permissions.
 */
function isAskedAbout(state: UpdateState, { context: { turnId } }: OpenApproval): boolean {
  const { clients, turn, submitters } = state;
  if (isOutsideTurns(state)) return false;
  const own = listLiveClients(clients).find(({ clientId }) => clientId === state.clientId);
  if (own === undefined) return true;
  const prompter = turn?.turnId === turnId ? submitters.get(turn?.promptId ?? "") : undefined;
  return mayDecide(own, prompter);
}

/**
 * A stock client expects requests only while its prompt runs or waits. The approvals of a daemon's own turn are open to
 * hosts, the portal, `/api` and `spanline sessions answer`.
 */
function isOutsideTurns({ isBackgroundTurn, clientPrompts, getProfile }: UpdateState): boolean {
  return isBackgroundTurn && clientPrompts.size === 0 && !getProfile().isBridgeHost;
}

function sendPermissionRequest(
  state: UpdateState,
  { approval, context }: OpenApproval,
  emit: Emit<AcpOutput>,
): void {
  state.sentQuestions.add(approval.approvalId);
  const lineBytes = resolveLineLimit(state.getProfile(), state.lineBytes);
  const encoded = encodeRequest(approval, { ...context, lineBytes }, state.getProfile());
  emit({ type: "ask", approval, ...encoded, turnId: context.turnId });
}

export function encodeApprovalResolved(
  state: UpdateState,
  event: ApprovalResolved,
  emit: Emit<AcpOutput>,
): void {
  const { approvalId, decision, input } = event;
  const openApproval = state.openApprovals.get(approvalId);
  state.openApprovals.delete(approvalId);
  state.sentQuestions.delete(approvalId);
  if (openApproval !== undefined && isStandaloneRequest(openApproval.approval)) {
    const kind = resolveHitlKind(openApproval.approval);
    const fields = { requestId: approvalId, kind, outcome: resolveHitlOutcome(event) };
    emitVendorUpdate(state, encodeHitlResolved(fields), emit);
  }
  if (openApproval !== undefined && input !== undefined && isApproving(decision))
    encodeEditedInput(state, openApproval.approval.subjectId, input, emit);
  emit({ type: "decided", approvalId });
}

function emitHitlRequest(
  state: UpdateState,
  approval: ApprovalRequested,
  context: ApprovalContext,
  emit: Emit<AcpOutput>,
): void {
  const payload = encodeHitlPayload(approval, context);
  const fields = { requestId: approval.approvalId, kind: resolveHitlKind(approval), payload };
  emitVendorUpdate(state, encodeHitlRequest(fields), emit);
}
