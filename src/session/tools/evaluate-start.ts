import type { Decision } from "../decision.ts";
import { denyTool, finishTool, formatNotRun } from "./finish-tool.ts";
import { recordDecision, evaluateRules } from "./evaluate-rules.ts";
import { findRunningAttempt, type Attempt } from "./tools-state.ts";

/**
 * Evaluates a tool again whose start is logged but which has not begun, because the agent changed in between. If the
 * decision is now `ask`, the model gets an error asking it to call the tool again, so the approver sees the changed
 * tool.
 */
export function evaluateStart(decision: Decision, starting: Attempt): void {
  const started = findRunningAttempt(decision.state.tools, starting);
  if (started === undefined) return;
  // The attempt does not count: the tool never ran.
  const run = { ...started, attempt: started.attempt - 1 };
  const ruling = evaluateRules(decision, run);
  if (ruling.verdict === "refuse") {
    return finishTool(decision, run, { ending: "refused", text: ruling.message });
  }
  if (ruling.verdict === "decide" && ruling.decision.action !== "ask") {
    recordDecision(decision, run, ruling);
    if (ruling.decision.action === "deny") denyTool(decision, run, ruling.decision);
    return;
  }
  const text = `${formatNotRun(run)}: the tool or its rules changed just before it started. Call it again if it is still needed.`;
  finishTool(decision, run, { ending: "refused", text });
}
