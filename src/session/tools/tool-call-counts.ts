import type { JsonObject } from "../../data/json.ts";
import { digestValue } from "../../platform/digest.ts";

/** How often each call was made in a session. What is forgotten is still counted: as what may have been made. */
export interface ToolCallCounts {
  readonly entries: readonly ToolCallCount[];
  /** None of those that were forgotten was made more often than this. */
  readonly maxEvictedCount: number;
}

export interface ToolCallCount {
  /** Of the tool's name and the arguments. */
  readonly digest: string;
  /** Since it is remembered. */
  readonly count: number;
  /** How often it may have been made before that, at most. */
  readonly maxEarlierCount: number;
}

export const NO_TOOL_CALLS: ToolCallCounts = { entries: [], maxEvictedCount: 0 };

/** How often a call was made for certain, and how much more often it may have been. */
export interface RepeatCount {
  readonly repeats: number;
  readonly repeatsForgotten: number;
}

export function countRepeats(
  { entries, maxEvictedCount }: ToolCallCounts,
  name: string,
  input: JsonObject,
): RepeatCount {
  const digest = digestToolCall(name, input);
  const { count, maxEarlierCount } = entries.find((entry) => entry.digest === digest) ?? {
    count: 0,
    maxEarlierCount: maxEvictedCount,
  };
  return { repeats: count, repeatsForgotten: maxEarlierCount };
}

export function countToolCall(
  counts: ToolCallCounts,
  name: string,
  input: JsonObject,
): ToolCallCounts {
  const { entries: calls, maxEvictedCount: forgotten } = counts;
  const digest = digestToolCall(name, input);
  const at = calls.findIndex((entry) => entry.digest === digest);
  const existing = calls[at];
  if (existing !== undefined) {
    return { ...counts, entries: calls.with(at, { ...existing, count: existing.count + 1 }) };
  }
  const all = [...calls, { digest, count: 1, maxEarlierCount: forgotten }];
  return all.length > MAX_ENTRIES
    ? evictRarest(all, forgotten)
    : { entries: all, maxEvictedCount: forgotten };
}

const MAX_ENTRIES = 4096;

/** Of those that were made as seldom, the oldest goes. */
function evictRarest(calls: readonly ToolCallCount[], forgotten: number): ToolCallCounts {
  const least = Math.min(...calls.map(maxCount));
  const at = calls.findIndex((entry) => maxCount(entry) === least);
  return { entries: calls.toSpliced(at, 1), maxEvictedCount: Math.max(forgotten, least) };
}

function maxCount({ count, maxEarlierCount: before }: ToolCallCount): number {
  return count + before;
}

/** The same for calls of one tool with the same arguments. */
function digestToolCall(name: string, input: JsonObject): string {
  return digestValue([name, input]);
}
