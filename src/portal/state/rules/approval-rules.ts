import type {
  ApprovalEvent,
  ApprovalRequested,
  ApprovalResolved,
  GrantAdded,
} from "../../../domain/events/approval-events.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import { isAboutToolCall, isApproving } from "../../../domain/policy/approval-decision.ts";
import type { ApprovalView } from "../session-view.ts";
import type { ViewDraft } from "../view-draft.ts";
import type { ViewRules } from "../view-rules.ts";
import { changeTool, findTool } from "./tool-item.ts";
import { setRunning } from "./tool-rules.ts";

export const APPROVAL_RULES: ViewRules<ApprovalEvent> = {
  "approval.requested": addRequest,
  "approval.routed": (draft, { approvalId, routedTo }) =>
    changeApproval(draft, approvalId, (approval) => ({
      ...approval,
      request: { ...approval.request, routedTo },
    })),
  "approval.voted": (draft, event, { at }) =>
    changeApproval(draft, event.approvalId, (approval) => ({
      ...approval,
      votes: [...approval.votes, { ...event, at }],
    })),
  "approval.resolved": resolveRequest,
  "grant.added": addGrant,
  "grant.revoked": (draft, { grantId }) => {
    draft.view.grants = draft.view.grants.filter((grant) => grant.grantId !== grantId);
  },
  "approvals.invalidated": (draft, _, envelope) => {
    draft.view.grants = [];
    const text = "Earlier approvals are no longer valid, and people are asked again";
    const details = "A receipt in the log is missing, or this bridge did not sign it.";
    draft.addNotice(envelope, "warning", text, details);
  },
};

function addRequest(draft: ViewDraft, request: ApprovalRequested, { at, seq }: Envelope): void {
  const { approvalId, question, subjectId, diffs } = request;
  const { budget } = draft.view.facts;
  const approval: ApprovalView = {
    approvalId,
    at,
    request,
    votes: [],
    resolution: null,
    ...(question === "budget" && budget !== null && { budget }),
  };
  draft.view.openApprovals = [...draft.view.openApprovals, approval];
  const tool = isAboutToolCall(question) ? findTool(draft, subjectId) : undefined;
  if (tool === undefined) {
    const key = `approval:${approvalId}`;
    draft.addItem({ kind: "approval", key, at, seq, approval });
    draft.linkApproval(approvalId, key);
  } else {
    draft.linkApproval(approvalId, tool.key);
    changeTool(draft, subjectId, {
      stage: "waiting",
      approvals: [...tool.approvals, approval],
      ...(diffs !== undefined && { diffs }),
    });
    setRunning(draft, subjectId, false);
  }
  draft.updateStage();
}

/** Changes an approval in the list of open approvals and in its item. */
function changeApproval(
  draft: ViewDraft,
  approvalId: string,
  change: (approval: ApprovalView) => ApprovalView,
): ApprovalView | undefined {
  let changed: ApprovalView | undefined;
  const apply = (approval: ApprovalView): ApprovalView =>
    approval.approvalId === approvalId ? (changed ??= change(approval)) : approval;
  draft.view.openApprovals = draft.view.openApprovals.map(apply);
  const item = draft.findApprovalItem(approvalId);
  if (item?.kind === "tool") draft.replaceItem({ ...item, approvals: item.approvals.map(apply) });
  else if (item?.kind === "approval")
    draft.replaceItem({ ...item, approval: apply(item.approval) });
  return changed;
}

function resolveRequest(draft: ViewDraft, event: ApprovalResolved, { at, actor }: Envelope): void {
  const { approvalId, decision, resolvedBy, input } = event;
  const decidedBy = resolvedBy === "person" ? (actor?.principal ?? null) : null;
  changeApproval(draft, approvalId, (approval) => ({
    ...approval,
    resolution: { ...event, at, decidedBy },
  }));
  draft.view.openApprovals = draft.view.openApprovals.filter(
    (approval) => approval.approvalId !== approvalId,
  );
  const item = draft.findApprovalItem(approvalId);
  if (item?.kind === "tool" && item.stage === "waiting") {
    const stage = isApproving(decision) ? "allowed" : "received";
    draft.replaceItem({ ...item, stage, ...(input !== undefined && { editedInput: input }) });
  }
  draft.updateStage();
}

function addGrant(draft: ViewDraft, { grantId, approvalId, scope }: GrantAdded): void {
  const item = draft.findApprovalItem(approvalId);
  const approvals = item?.kind === "tool" ? item.approvals : [];
  const request = approvals.find((approval) => approval.approvalId === approvalId)?.request;
  const label = request?.grantLabel ?? scope.command ?? scope.tool;
  draft.view.grants = [...draft.view.grants, { grantId, tool: scope.tool, label }];
}
