import type { ToolEnding } from "../../domain/agent-event.ts";
import type { GivenResult } from "../../domain/session-command.ts";
import type { PolicyDecision } from "../../domain/policy-decision.ts";
import { toolError, toolSuccess } from "../../domain/tool.ts";
import type { Work } from "../work.ts";
import type { ToolRun } from "./tools-state.ts";

/** Ends a call that does not tell of its own end; `text` is for the model. */
export function finishTool(
  work: Work,
  { toolCallId, call }: ToolRun,
  { ending, text }: { readonly ending: ToolEnding; readonly text: string },
): void {
  const callId = call?.id ?? "";
  const result = ending === "succeeded" ? toolSuccess(callId, text) : toolError(callId, text);
  work.emit({ type: "tool.finished", toolCallId, ending, result });
}

/** Ends a call with what whoever had it brought. */
export function finishGiven(
  work: Work,
  { toolCallId, call }: ToolRun,
  { parts, isError }: GivenResult,
): void {
  const ending = isError ? "failed" : "succeeded";
  const result = { callId: call?.id ?? "", parts, isError };
  work.emit({ type: "tool.finished", toolCallId, ending, result });
}

export function denyTool(work: Work, run: ToolRun, { reason }: PolicyDecision): void {
  const text = `${notRun(run)}: the rules of this session do not allow it. ${reason}`;
  finishTool(work, run, { ending: "denied", text });
}

/** Of a call whose outcome is not known here. */
export function whenLost({ awaited }: ToolRun): string {
  return awaited?.after === "loss" ? "when its client was lost" : "when the bridge was killed";
}

export function unknownText(run: ToolRun): string {
  return `${run.name} was running ${whenLost(run)}. Whether it did its work is not known: look before you call it again.`;
}

/** The action of a request that would run a tool again, for people. */
export function rerunAction({ name }: ToolRun): string {
  return `${name} may already have run; allowing runs it again`;
}

/** For the model, of a call that does not run now: it may have run before the bridge was killed. */
export function notRun({ name, attempt }: ToolRun): string {
  if (attempt === 0) return `${name} was not run`;
  return `${name} was not run again, and whether it did its work before is not known`;
}
