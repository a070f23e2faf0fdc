import type { Decision } from "../decision.ts";
import { denyTool, finishTool, formatNotRun } from "./finish-tool.ts";
import { recordDecision, evaluateRules } from "./evaluate-rules.ts";
import { findRunningAttempt, type Attempt } from "./tools-state.ts";

/**
 * The start of a tool is in the log, it has not begun yet, and the agent changed in between: it is judged once more. Where
 * that takes a question, the model is told to call it again, and whoever is asked then is asked about the tool as it is now.
 */
export function evaluateStart(decision: Decision, starting: Attempt): void {
  const started = findRunningAttempt(decision.state.tools, starting);
  if (started === undefined) return;
  // This attempt does not count: the tool never ran in it.
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
  const text = `${formatNotRun(run)}: the tool, or the rules about it, changed as it was to start. Call it again if it is still wanted.`;
  finishTool(decision, run, { ending: "refused", text });
}
