import { revokeWhere } from "./approvals/grants.ts";
import { unanswered } from "./approvals/questions.ts";
import type { BoundAgent } from "./input.ts";
import { rulesDigest } from "./tools/policy-of.ts";
import { isStillAsked } from "./tools/rule-on.ts";
import { isOtherTool } from "./tools/tool-digest.ts";
import { runOf } from "./tools/tools-state.ts";
import type { Work } from "./work.ts";

/** From here on another definition holds. A yes, and a yes for good, is for what was shown, and for nothing else. */
export function bindAgent(work: Work, { digest, facts }: BoundAgent): void {
  const before = work.state.agent?.facts;
  work.emit({ type: "agent.bound", digest, definition: facts });
  if (before === undefined) return;
  const areSame = rulesDigest(before) === rulesDigest(facts);
  revokeWhere(work, ({ scope: { tool } }) => !areSame || isOtherTool(tool, before, facts));
  withdrawQuestions(work);
}

/** Questions that would be asked just so again stay; the calls of the others are judged anew. */
export function withdrawQuestions(work: Work): void {
  for (const asked of work.state.approvals.pending) {
    if (asked.question !== "run") continue;
    const run = runOf(work.state.tools, asked.about);
    if (run === undefined || !isStillAsked(work, run)) unanswered(work, asked, "change");
  }
}
