import type { Work } from "../work.ts";
import { denyTool, finishTool, notRun } from "./finish-tool.ts";
import { record, ruleOn } from "./rule-on.ts";
import { runningAttempt, type Attempt } from "./tools-state.ts";

/**
 * The start of a tool is in the log, it has not begun yet, and the agent changed in between: it is judged once more. Where
 * that takes a question, the model is told to call it again, and whoever is asked then is asked about the tool as it is now.
 */
export function judgeStart(work: Work, starting: Attempt): void {
  const started = runningAttempt(work.state.tools, starting);
  if (started === undefined) return;
  // This attempt does not count: the tool never ran in it.
  const run = { ...started, attempt: started.attempt - 1 };
  const ruling = ruleOn(work, run);
  if (ruling.verdict === "refuse") {
    return finishTool(work, run, { ending: "refused", text: ruling.message });
  }
  if (ruling.verdict === "decide" && ruling.decision.action !== "ask") {
    record(work, run, ruling);
    if (ruling.decision.action === "deny") denyTool(work, run, ruling.decision);
    return;
  }
  const text = `${notRun(run)}: the tool, or the rules about it, changed as it was to start. Call it again if it is still wanted.`;
  finishTool(work, run, { ending: "refused", text });
}
