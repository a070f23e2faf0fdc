import type { PolicyDecision } from "../../domain/policy/policy-decision.ts";
import type { CommandReply } from "../../domain/session-command.ts";
import { refuse } from "../refuse-command.ts";
import type { Decision } from "../decision.ts";
import type { ApprovalsState, Grant, PendingApproval } from "./approvals-state.ts";
import { isCoveredBy, createGrantScope } from "./grant-scope.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

/**
 * Returns the grant which covers a request, if any. A grant comes from a single person, so it never covers a request
 * with several approvers.
 */
export function findGrant(
  { grants }: ApprovalsState,
  decision: PolicyDecision,
  digest: string,
): Grant | undefined {
  if (decision.approvers > 1) return undefined;
  const requestedScope = createGrantScope(decision, digest);
  return grants.find(({ scope }) => isCoveredBy(requestedScope, scope));
}

/** Adds a grant for calls like the requested one. */
export function addGrant(decision: Decision, { approvalId, scope }: PendingApproval): void {
  if (scope === undefined) return;
  // Skipped if an existing grant covers the scope: revoking it must revoke everything.
  if (
    decision.state.approvals.grants.some((existingGrant) => isCoveredBy(scope, existingGrant.scope))
  )
    return;
  decision.emit({ type: "grant.added", grantId: decision.ids.next("grant"), approvalId, scope });
}

/** Revokes grants whose tool or rules have changed, since their extent is no longer known. */
export function revokeGrants(decision: Decision, isRevoked: (grant: Grant) => boolean): void {
  for (const activeGrant of decision.state.approvals.grants) {
    if (isRevoked(activeGrant))
      decision.emit({ type: "grant.revoked", grantId: activeGrant.grantId });
  }
}

export function revokeGrant(decision: Decision, grantId: string): CommandReply {
  if (!decision.state.approvals.grants.some((activeGrant) => activeGrant.grantId === grantId)) {
    const names = decision.state.approvals.grants.map((activeGrant) => activeGrant.grantId);
    const where = "in this session";
    return refuse("not_found", formatUnknownName("Grant", grantId, { where, names }));
  }
  decision.emit({ type: "grant.revoked", grantId });
  return { status: "accepted" };
}
