import type { PolicyDecision } from "../../domain/policy-decision.ts";
import type { CommandReply } from "../../domain/session-command.ts";
import { refused } from "../refused.ts";
import type { Work } from "../work.ts";
import type { ApprovalsState, Grant, PendingApproval } from "./approvals-state.ts";
import { isWithin, scopeOf } from "./grant-scope.ts";

/** The grant that answers a question, if one does. One person gave it: it is no answer where several are asked. */
export function grantFor(
  { grants }: ApprovalsState,
  decision: PolicyDecision,
  digest: string,
): Grant | undefined {
  if (decision.approvers > 1) return undefined;
  const wanted = scopeOf(decision, digest);
  return grants.find(({ scope }) => isWithin(wanted, scope));
}

/** Calls like the one that was asked about need no answer any more. */
export function grant(work: Work, { approvalId, scope }: PendingApproval): void {
  if (scope === undefined) return;
  // Whoever takes it back takes back one.
  if (work.state.approvals.grants.some((one) => isWithin(scope, one.scope))) return;
  work.emit({ type: "grant.given", grantId: work.ids.next("grant"), approvalId, scope });
}

/** Under other rules, or of another tool, nobody knows what was allowed for good. */
export function revokeWhere(work: Work, isOver: (grant: Grant) => boolean): void {
  for (const one of work.state.approvals.grants) {
    if (isOver(one)) work.emit({ type: "grant.revoked", grantId: one.grantId });
  }
}

export function revoke(work: Work, grantId: string): CommandReply {
  if (!work.state.approvals.grants.some((one) => one.grantId === grantId)) {
    return refused("not_found", `There is no grant ${grantId} in this session`);
  }
  work.emit({ type: "grant.revoked", grantId });
  return { status: "accepted" };
}
