import type { Work } from "../work.ts";
import { denyTool } from "./advance-tools.ts";
import { finishTool, notRun } from "./finish-tool.ts";
import { record, ruleOn } from "./rule-on.ts";
import { runningAttempt } from "./take-tool-input.ts";

/**
 * Judges a tool once more whose start is in the log and which has not begun, since the agent changed in between. One that
 * is not plainly allowed any more is left to the model to call again: then it is looked at, and asked about, as it is now.
 */
export function judgeStart(
  work: Work,
  starting: { readonly toolCallId: string; readonly attempt: number },
): void {
  const run = runningAttempt(work, starting);
  if (run === undefined) return;
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
