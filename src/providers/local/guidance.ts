import type { HookFired } from "../../domain/provider/provider-event.ts";
import type { AnsweredToolCall, InvocationInput, TurnProgress } from "../provider.ts";
import type { Guards } from "./turn-guards.ts";

/** Something a guard says to the model beside the conversation, and the event that shows it to everybody else. */
export interface Guidance {
  readonly text: string;
  readonly hook: HookFired;
}

/** It is said with this one call, and is not part of what was said. */
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

/** What a guard answered in place of a tool says nothing about the tool. */
function countFailuresInRow(answered: readonly AnsweredToolCall[], name: string): number {
  const toolCalls = answered.filter(
    ({ toolCall }) => toolCall.name === name && toolCall.runBy === "client",
  );
  const lastSuccess = toolCalls.findLastIndex(({ result }) => !result.isError);
  return toolCalls.length - 1 - lastSuccess;
}

function formatFailureNote(name: string, times: number): string {
  return `${name} has failed ${times} times in a row. Read what it said before you call it again: change its arguments, or do without it.`;
}

function formatLastStepsNote(callsLeft: number, terminalTool: string | undefined): string {
  const when =
    callsLeft === 1
      ? "This is the last step of this turn: no result of a tool will reach you after it."
      : `There are ${callsLeft} steps left in this turn, this one among them.`;
  if (terminalTool !== undefined) return `${when} Call ${terminalTool} now, with what you have.`;
  return `${when} ${callsLeft === 1 ? "Give" : "Prepare"} your final answer now, with what you have.`;
}

function createGuidance(name: string, text: string): Guidance {
  const hook = { type: "hook", id: name, name, stage: "before-model", decision: "told" } as const;
  return { text, hook: { ...hook, reason: text } };
}
