import type { Decision } from "../../domain/agent-event.ts";
import { digestOf } from "../../platform/digest.ts";
import { agentOf, type Work } from "../work.ts";
import { ask } from "../approvals/questions.ts";
import { finishTool } from "./finish-tool.ts";
import { judgeCall } from "./judge-call.ts";
import type { ToolRun } from "./tools-state.ts";

/**
 * Decides about the calls of which nothing was decided, and starts those that may run while there is room. `mayStart`
 * says how many more calls the turn may start.
 */
export function advanceTools(work: Work, mayStart: number): void {
  const { runs } = work.state.tools;
  const { parallelTools } = agentOf(work).caps;
  let places = parallelTools - runs.filter(({ status }) => status === "running").length;
  let starts = mayStart;
  for (const run of runs) {
    if (run.status !== "called" && run.status !== "granted") continue;
    const isNew = run.attempt === 0;
    const isAllowed = run.status === "granted" || isAllowedUnasked(work, run, starts > 0);
    if (!isAllowed || places <= 0 || (isNew && starts <= 0)) continue;
    startTool(work, run);
    places -= 1;
    if (isNew) starts -= 1;
  }
}

/** Refuses what cannot run, and asks where somebody has to be asked. */
function isAllowedUnasked(work: Work, run: ToolRun, mayAsk: boolean): boolean {
  const judgement = judgeCall(run, agentOf(work));
  switch (judgement.verdict) {
    case "refuse": {
      const { ending, message } = judgement;
      finishTool(work, run, { ending, text: message });
      return false;
    }
    case "ask":
      if (mayAsk) askAbout(work, run, "run", ["allow", "deny"]);
      return false;
    case "run":
      return true;
    default:
      return judgement satisfies never;
  }
}

export function askAbout(
  work: Work,
  run: ToolRun,
  question: "run" | "outcome",
  options: readonly Decision[],
): void {
  const action =
    question === "run"
      ? run.name
      : `${run.name} was running when the bridge was killed. What came of it?`;
  ask(work, { question, options, about: run.toolCallId, action, input: run.input });
}

export function startTool(work: Work, { toolCallId, attempt, approvalId, input }: ToolRun): void {
  work.emit({
    type: "tool.started",
    toolCallId,
    attempt: attempt + 1,
    digest: digestOf(input ?? {}),
    ...(approvalId !== undefined && { approvalId }),
  });
}
