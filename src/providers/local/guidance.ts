import type { HookFired } from "../../domain/provider-event.ts";
import type { AnsweredCall, CallInput, TurnProgress } from "../provider.ts";
import type { Guards } from "./guards.ts";

/** Something a guard says to the model beside the conversation, and the event that shows it to everybody else. */
export interface Guidance {
  readonly text: string;
  readonly hook: HookFired;
}

/** It is said with this one call, and is not part of what was said. */
export function guidanceFor(
  { failingTools, lastSteps }: Guards,
  input: CallInput,
  { callsLeft, answered, terminalTool }: TurnProgress,
): Guidance[] {
  const guided: Guidance[] = [];
  if (failingTools !== null && input.type === "results") {
    const failed = new Set(input.results.flatMap(({ callId, isError }) => (isError ? callId : [])));
    const names = input.turn.calls.flatMap(({ id, name }) => (failed.has(id) ? [name] : []));
    for (const name of new Set(names)) {
      const times = failuresInRow(answered, name);
      if (times >= failingTools.after) guided.push(saying("failing-tool", failing(name, times)));
    }
  }
  if (lastSteps !== null && callsLeft <= lastSteps.within) {
    guided.push(saying("last-steps", ending(callsLeft, terminalTool)));
  }
  return guided;
}

/** What a guard answered in place of a tool says nothing about the tool. */
function failuresInRow(answered: readonly AnsweredCall[], name: string): number {
  const own = answered.filter(({ call }) => call.name === name && call.runBy === "client");
  const lastSuccess = own.findLastIndex(({ result }) => !result.isError);
  return own.length - 1 - lastSuccess;
}

function failing(name: string, times: number): string {
  return `${name} has failed ${times} times in a row. Read what it said before you call it again: change its arguments, or do without it.`;
}

function ending(callsLeft: number, terminalTool: string | undefined): string {
  const when =
    callsLeft === 1
      ? "This is the last step of this turn: no result of a tool will reach you after it."
      : `There are ${callsLeft} steps left in this turn, this one among them.`;
  if (terminalTool !== undefined) return `${when} Call ${terminalTool} now, with what you have.`;
  return `${when} ${callsLeft === 1 ? "Give" : "Prepare"} your final answer now, with what you have.`;
}

function saying(name: string, text: string): Guidance {
  const hook = { type: "hook", id: name, name, stage: "before-model", decision: "told" } as const;
  return { text, hook: { ...hook, reason: text } };
}
