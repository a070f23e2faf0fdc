import type { HookFired } from "../../domain/provider/provider-event.ts";
import type { AnsweredToolCall, InvocationInput, TurnProgress } from "../provider.ts";
import type { Guards } from "./turn-guards.ts";

/** A note of a turn guard to the model, and the event that shows the note to clients. */
export interface Guidance {
  readonly text: string;
  readonly hook: HookFired;
}

/** Collects the notes for an invocation. A note is sent with this invocation only and is not part of the history. */
export function collectGuidance(
  { failingTools, lastSteps }: Guards,
  input: InvocationInput,
  { remainingInvocations, answeredToolCalls, terminalTool }: TurnProgress,
): Guidance[] {
  const guidance: Guidance[] = [];
  if (failingTools !== null && input.type === "results") {
    const failed = new Set(
      input.results.flatMap(({ toolCallId, isError }) => (isError ? toolCallId : [])),
    );
    const names = input.turn.toolCalls.flatMap(({ id, name }) => (failed.has(id) ? [name] : []));
    for (const name of new Set(names)) {
      const times = countFailuresInRow(answeredToolCalls, name);
      if (times >= failingTools.after)
        guidance.push(createGuidance("failing-tool", formatFailureNote(name, times)));
    }
  }
  if (lastSteps !== null && remainingInvocations <= lastSteps.within) {
    guidance.push(
      createGuidance("last-steps", formatLastStepsNote(remainingInvocations, terminalTool)),
    );
  }
  return guidance;
}

/** Counts the last failures of a tool in a row. Results created by a guard do not count. */
function countFailuresInRow(answered: readonly AnsweredToolCall[], name: string): number {
  const toolCalls = answered.filter(
    ({ toolCall }) => toolCall.name === name && toolCall.runBy === "client",
  );
  const lastSuccess = toolCalls.findLastIndex(({ result }) => !result.isError);
  return toolCalls.length - 1 - lastSuccess;
}

function formatFailureNote(name: string, times: number): string {
  return `${name} has failed ${times} times in a row. Read its error before you call it again: change the arguments, or continue without it.`;
}

function formatLastStepsNote(callsLeft: number, terminalTool: string | undefined): string {
  const when =
    callsLeft === 1
      ? "This is the last step of this turn: you will not receive any further tool result."
      : `This turn has ${callsLeft} steps left, including this one.`;
  if (terminalTool !== undefined) return `${when} Call ${terminalTool} now, with what you have.`;
  return `${when} ${callsLeft === 1 ? "Give" : "Prepare"} your final answer now, with what you have.`;
}

function createGuidance(name: string, text: string): Guidance {
  const hook = { type: "hook", id: name, name, stage: "before-model", decision: "told" } as const;
  return { text, hook: { ...hook, reason: text } };
}
