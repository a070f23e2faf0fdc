import type { ToolEnding } from "../../domain/events/tool-events.ts";
import type { SubmittedResult } from "../../domain/session-command.ts";
import type { PolicyDecision } from "../../domain/policy/policy-decision.ts";
import { toolError, toolSuccess } from "../../domain/tools/tool-call.ts";
import type { Decision } from "../decision.ts";
import type { ToolRun } from "./tools-state.ts";

/** Ends a call that does not tell of its own end; `text` is for the model. */
export function finishTool(
  decision: Decision,
  { toolCallId, toolCall }: ToolRun,
  { ending, text }: { readonly ending: ToolEnding; readonly text: string },
): void {
  const callId = toolCall?.id ?? "";
  const result = ending === "succeeded" ? toolSuccess(callId, text) : toolError(callId, text);
  decision.emit({ type: "tool.finished", toolCallId, ending, result });
}

/** Ends a call with what whoever had it brought. */
export function finishWithSubmittedResult(
  decision: Decision,
  { toolCallId, toolCall: call }: ToolRun,
  { parts, isError }: SubmittedResult,
): void {
  const ending = isError ? "failed" : "succeeded";
  const result = { toolCallId: call?.id ?? "", parts, isError };
  decision.emit({ type: "tool.finished", toolCallId, ending, result });
}

export function denyTool(decision: Decision, run: ToolRun, { reason }: PolicyDecision): void {
  const text = `${formatNotRun(run)}: the rules of this session do not allow it. ${reason}`;
  finishTool(decision, run, { ending: "denied", text });
}

/** Of a call whose outcome is not known here. */
export function formatLossTime({ hostWait }: ToolRun): string {
  return hostWait?.cause === "loss" ? "when its client was lost" : "when the bridge was killed";
}

export function formatUnknownOutcome(run: ToolRun): string {
  return `${run.name} was running ${formatLossTime(run)}. Whether it did its work is not known: look before you call it again.`;
}

/** The action of a request that would run a tool again, for people. */
export function formatRerunAction({ name }: ToolRun): string {
  return `${name} may already have run; allowing runs it again`;
}

/** For the model, of a call that does not run now: it may have run before the bridge was killed. */
export function formatNotRun({ name, attempt }: ToolRun): string {
  if (attempt === 0) return `${name} was not run`;
  return `${name} was not run again, and whether it did its work before is not known`;
}
