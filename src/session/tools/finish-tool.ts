import type { ToolEnding } from "../../domain/events/tool-events.ts";
import type { SubmittedResult } from "../../domain/session-command.ts";
import type { PolicyDecision } from "../../domain/policy/policy-decision.ts";
import { createToolError, createToolSuccess } from "../../domain/tools/tool-call.ts";
import type { Decision } from "../decision.ts";
import type { ToolRun } from "./tools-state.ts";

/** Finishes a tool call which does not report its own end; `text` is for the model. */
export function finishTool(
  decision: Decision,
  { toolCallId, toolCall }: ToolRun,
  { ending, text }: { readonly ending: ToolEnding; readonly text: string },
): void {
  const callId = toolCall?.id ?? "";
  const result =
    ending === "succeeded" ? createToolSuccess(callId, text) : createToolError(callId, text);
  decision.emit({ type: "tool.finished", toolCallId, ending, result });
}

/** Finishes a tool call with the result submitted by the prompter. */
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

/** States when the result of a call was lost. */
export function formatLossTime({ hostWait }: ToolRun): string {
  return hostWait?.cause === "loss" ? "when its client was lost" : "when the bridge was killed";
}

export function formatUnknownOutcome(run: ToolRun): string {
  return `${run.name} was running ${formatLossTime(run)}. Whether it did its work is not known: look before you call it again.`;
}

/** The action shown in a request to run a tool again. */
export function formatRerunAction({ name }: ToolRun): string {
  return `${name} may already have run; allowing runs it again`;
}

/** Tells the model that a call does not run now. An earlier attempt may have run before the bridge was killed. */
export function formatNotRun({ name, attempt }: ToolRun): string {
  if (attempt === 0) return `${name} was not run`;
  return `${name} was not run again, and whether it did its work before is not known`;
}
