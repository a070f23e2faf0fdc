import { revokeGrants } from "./approvals/grants.ts";
import { resolveWithoutDecision } from "./approvals/approval-requests.ts";
import type { ConfiguredAgent } from "./session-input.ts";
import { digestRules } from "./tools/resolve-policy.ts";
import { isRequestCurrent } from "./tools/evaluate-rules.ts";
import { isToolReplaced } from "./tools/tool-digest.ts";
import { findRun } from "./tools/tools-state.ts";
import type { Decision } from "./decision.ts";

/** From here on another definition holds. A yes, and a yes for good, is for what was shown, and for nothing else. */
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

/** Questions that would be asked just so again stay; the calls of the others are judged anew. */
export function withdrawChangedRequests(decision: Decision): void {
  for (const request of decision.state.approvals.pending) {
    if (request.question !== "run") continue;
    const run = findRun(decision.state.tools, request.subjectId);
    if (run === undefined || !isRequestCurrent(decision, run))
      resolveWithoutDecision(decision, request, "change");
  }
}
