import type { HookFired } from "../../domain/provider/provider-event.ts";
import { matchesPattern } from "../../text/match-pattern.ts";
import { createToolError, type ToolCall, type ToolResult } from "../../domain/tools/tool-call.ts";
import { digestValue } from "../../platform/digest.ts";
import type { AnsweredToolCall } from "../provider.ts";
import type { Guards } from "./turn-guards.ts";

/** Records a tool call. Returns a replacement result if the same tool call already ran too often. */
export type RepeatCheck = (call: ToolCall) => RepeatedToolCall | undefined;

export interface RepeatedToolCall {
  readonly result: ToolResult;
  readonly hook: HookFired;
}

/**
 * Compares the tool calls of a turn by name and decoded arguments: those already answered and those in the current
 * message.
 */
export function createRepeatCheck(
  guard: Guards["repeatedCalls"],
  answered: readonly AnsweredToolCall[],
): RepeatCheck {
  if (guard === null) return () => undefined;
  const { most, exempt } = guard;
  const earlier = new Set<string>();
  const counts = new Map<string, number>();
  const count = (key: string, by: number): void =>
    void counts.set(key, (counts.get(key) ?? 0) + by);
  for (const { toolCall } of answered) {
    const key = createCallKey(toolCall);
    if (key === undefined) continue;
    earlier.add(key);
    count(key, 1);
  }
  const byId = new Map<string, string>();

  return (call) => {
    // If a model uses an id twice, the last tool call counts.
    const previousKey = byId.get(call.id);
    if (previousKey !== undefined) count(previousKey, -1);
    byId.delete(call.id);
    const { id, name } = call;
    const key = createCallKey(call);
    if (key === undefined || exempt.some((pattern) => matchesPattern(pattern, name)))
      return undefined;
    if ((counts.get(key) ?? 0) < most) {
      byId.set(id, key);
      count(key, 1);
      return undefined;
    }
    const isEarlier = earlier.has(key);
    return {
      result: createToolError(id, isEarlier ? formatEarlierNote(name) : formatDuplicateNote(name)),
      hook: createHook(name, isEarlier),
    };
  };
}

/** Invalid arguments never equal other arguments. */
function createCallKey({ name, input }: ToolCall): string | undefined {
  return input === null ? undefined : digestValue([name, input]);
}

function formatEarlierNote(name: string): string {
  return `${name} was not run again: you called it with the same arguments earlier in this turn, and its result is above. Use that result, or call it with other arguments.`;
}

function formatDuplicateNote(name: string): string {
  return `${name} was not run again: another call in the same message has the same arguments, and its result is the result of this one.`;
}

function createHook(tool: string, isEarlier: boolean): HookFired {
  const duplicateText = isEarlier
    ? "an answered call of this turn"
    : "another call in the same message";
  return {
    type: "hook",
    id: "repeated-call",
    name: "repeated-call",
    stage: "after-model",
    decision: "not-run",
    reason: `A call of ${tool} has the same arguments as ${duplicateText}`,
  };
}
