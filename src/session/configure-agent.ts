import { revokeGrants } from "./approvals/grants.ts";
import { resolveWithoutDecision } from "./approvals/approval-requests.ts";
import type { ConfiguredAgent } from "./session-input.ts";
import { digestRules } from "./tools/resolve-policy.ts";
import { isRequestCurrent } from "./tools/evaluate-rules.ts";
import { isToolReplaced } from "./tools/tool-digest.ts";
import { findRun } from "./tools/tools-state.ts";
import type { Decision } from "./decision.ts";

/**
 * Applies a new agent definition. An approval or grant covers only the tool and rules shown to its approver: grants for
 * changed tools or rules are revoked, and outdated requests are withdrawn.
 */
export function configureAgent(decision: Decision, { digest, spec }: ConfiguredAgent): void {
  const previousSpec = decision.state.agent?.spec;
  decision.emit({ type: "agent.configured", digest, spec });
  if (previousSpec === undefined) return;
  const areSame = digestRules(previousSpec) === digestRules(spec);
  revokeGrants(
    decision,
    ({ scope: { tool } }) => !areSame || isToolReplaced(tool, previousSpec, spec),
  );
  withdrawChangedRequests(decision);
}

/**
 * Withdraws approval requests which would now be asked differently; their tool calls are evaluated again. Unchanged
 * requests stay open.
 */
export function withdrawChangedRequests(decision: Decision): void {
  for (const request of decision.state.approvals.pending) {
    if (request.question !== "run" || request.worker !== undefined) continue;
    const run = findRun(decision.state.tools, request.subjectId);
    if (run === undefined || !isRequestCurrent(decision, run))
      resolveWithoutDecision(decision, request, "change");
  }
}
