import type { AgentFacts } from "../domain/agent-event.ts";
import { digestOf } from "../platform/digest.ts";
import { revokeWhere } from "./approvals/grants.ts";
import type { BoundAgent } from "./input.ts";
import { policyOf } from "./tools/policy-of.ts";
import type { Work } from "./work.ts";

/** From here on another definition holds. What other rules had asked about is not allowed for good by these. */
export function bindAgent(work: Work, { digest, facts }: BoundAgent): void {
  const before = work.state.agent?.facts;
  work.emit({ type: "agent.bound", digest, definition: facts });
  if (before === undefined) return;
  const isOther = areSameRules(before, facts) ? otherTools(before, facts) : () => true;
  revokeWhere(work, ({ scope }) => isOther(scope.tool));
}

/** A tool that says something else of itself is another one, whatever it is called. */
function otherTools(before: AgentFacts, now: AgentFacts): (tool: string) => boolean {
  const digests = ({ tools }: AgentFacts): ReadonlyMap<string, string> =>
    new Map(tools.map((tool) => [tool.name, digestOf(tool)]));
  const [then, since] = [digests(before), digests(now)];
  return (tool) => then.get(tool) !== since.get(tool);
}

function areSameRules(one: AgentFacts, other: AgentFacts): boolean {
  return digestOf(policyOf(one)) === digestOf(policyOf(other));
}
