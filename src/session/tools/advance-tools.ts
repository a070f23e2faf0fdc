import type { ToolStarted } from "../../domain/agent-event.ts";
import type { PolicyDecision } from "../../domain/policy-decision.ts";
import { digestOf } from "../../platform/digest.ts";
import { isAskedByMode } from "../../policy/narrow.ts";
import { agentOf, type Work } from "../work.ts";
import { scopeText } from "../approvals/grant-scope.ts";
import { ask } from "../approvals/questions.ts";
import { denyTool, finishTool, rerunAction } from "./finish-tool.ts";
import { decideRerun, record, ruleOn, type Ruled } from "./rule-on.ts";
import { isToJudge, isUnderWay, type ToolRun } from "./tools-state.ts";

/**
 * Decides about the calls of which nothing was decided, and starts those that may run while there is room. `mayStart`
 * says how many more calls the turn may start.
 */
export function advanceTools(work: Work, mayStart: number): void {
  const { runs } = work.state.tools;
  const { parallelTools } = agentOf(work).caps;
  let places = parallelTools - runs.filter(isUnderWay).length;
  let starts = mayStart;
  for (const run of runs.filter(isToJudge)) {
    const isNew = run.attempt === 0;
    const hasRoom = places > 0 && (!isNew || starts > 0);
    if (run.status === "granted" && !hasRoom) continue;
    // What was granted is judged again when it starts: the rules, or what was allowed for good, may be others now.
    if (!isAllowed(work, run, !isNew || starts > 0) || !hasRoom) continue;
    startTool(work, run);
    places -= 1;
    if (isNew) starts -= 1;
  }
}

/** Refuses what cannot run or may not, and asks where somebody has to be asked. */
function isAllowed(work: Work, run: ToolRun, mayAsk: boolean): boolean {
  const ruling = ruleOn(work, run);
  switch (ruling.verdict) {
    case "refuse":
      finishTool(work, run, { ending: "refused", text: ruling.message });
      return false;
    case "examine":
      return false;
    case "decide":
      return follow(work, run, ruling, mayAsk);
    default:
      return ruling satisfies never;
  }
}

function follow(work: Work, run: ToolRun, ruled: Ruled, mayAsk: boolean): boolean {
  const { action } = ruled.decision;
  if (action === "ask" && !mayAsk) return false;
  record(work, run, ruled);
  if (action === "ask") askToRun(work, run, ruled.decision);
  if (action === "deny") denyTool(work, run, ruled.decision);
  return action === "allow";
}

function askToRun(work: Work, run: ToolRun, decision: PolicyDecision): void {
  const { toolCallId, name, input, examined, attempt } = run;
  const { diffs, evidence } = examined ?? {};
  const approvers = Math.max(1, decision.approvers);
  // One person cannot allow for good what takes several; the mode asks whatever was allowed for good, and so does a second attempt.
  const isForGood = approvers === 1 && !isAskedByMode(decision) && attempt === 0;
  const always = isForGood ? (["allow-always"] as const) : [];
  ask(work, {
    question: "run",
    options: ["allow", ...always, "deny"],
    about: toolCallId,
    action: attempt === 0 ? name : rerunAction(run),
    input,
    approvers,
    ...(attempt > 0 && { attempt: attempt + 1 }),
    ...(isForGood && { always: scopeText(decision) }),
    decision,
    ...(diffs !== undefined && { diffs }),
    ...(evidence !== undefined && { evidence }),
  });
}

/**
 * Asks about a tool that was running when the bridge was killed. It may have had its effect, so neither the rules nor a
 * grant run it again.
 */
export function askWhatCame(work: Work, run: ToolRun): void {
  const { toolCallId, input, attempt } = run;
  const decision = decideRerun(work, run);
  const { approvers } = decision;
  ask(work, {
    question: "outcome",
    options: ["run-again", "deny", "done", "failed"],
    about: toolCallId,
    action: rerunAction(run),
    input,
    approvers,
    attempt: attempt + 1,
    decision,
  });
}

export function startTool(
  work: Work,
  { toolCallId, attempt, approvalId, input }: ToolRun,
  beside: Pick<ToolStarted, "isRepeat"> = {},
): void {
  work.emit({
    type: "tool.started",
    toolCallId,
    attempt: attempt + 1,
    digest: digestOf(input ?? {}),
    ...(approvalId !== undefined && { approvalId }),
    ...beside,
  });
}
