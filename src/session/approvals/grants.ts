import type { PolicyDecision } from "../../domain/policy/policy-decision.ts";
import type { CommandReply } from "../../domain/session-command.ts";
import { refuse } from "../refuse-command.ts";
import type { Decision } from "../decision.ts";
import type { ApprovalsState, Grant, PendingApproval } from "./approvals-state.ts";
import { isCoveredBy, createGrantScope } from "./grant-scope.ts";

/** The grant that answers a question, if one does. One person gave it: it is no answer where several are asked. */
export function findGrant(
  { grants }: ApprovalsState,
  decision: PolicyDecision,
  digest: string,
): Grant | undefined {
  if (decision.approvers > 1) return undefined;
  const requestedScope = createGrantScope(decision, digest);
  return grants.find(({ scope }) => isCoveredBy(requestedScope, scope));
}

/** Calls like the one that was asked about need no answer any more. */
export function addGrant(decision: Decision, { approvalId, scope }: PendingApproval): void {
  if (scope === undefined) return;
  // Whoever takes it back takes back one.
  if (
    decision.state.approvals.grants.some((existingGrant) => isCoveredBy(scope, existingGrant.scope))
  )
    return;
  decision.emit({ type: "grant.added", grantId: decision.ids.next("grant"), approvalId, scope });
}

/** Under other rules, or of another tool, nobody knows what was allowed for good. */
export function revokeGrants(decision: Decision, isRevoked: (grant: Grant) => boolean): void {
  for (const activeGrant of decision.state.approvals.grants) {
    if (isRevoked(activeGrant))
      decision.emit({ type: "grant.revoked", grantId: activeGrant.grantId });
  }
}

export function revokeGrant(decision: Decision, grantId: string): CommandReply {
  if (!decision.state.approvals.grants.some((activeGrant) => activeGrant.grantId === grantId)) {
    return refuse("not_found", `There is no grant ${grantId} in this session`);
  }
  decision.emit({ type: "grant.revoked", grantId });
  return { status: "accepted" };
}
