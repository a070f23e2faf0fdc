import type { JsonObject } from "../../data/json.ts";
import { digestValue } from "../../platform/digest.ts";

/** Number of calls per tool and arguments in a session. Evicted entries still count, as an upper bound. */
export interface ToolCallCounts {
  readonly entries: readonly ToolCallCount[];
  /** Upper bound of the count of every evicted entry. */
  readonly maxEvictedCount: number;
}

export interface ToolCallCount {
  /** Digest of the tool's name and arguments. */
  readonly digest: string;
  /** Calls since the entry was added. */
  readonly count: number;
  /** Upper bound of the calls before the entry was added. */
  readonly maxEarlierCount: number;
}

export const NO_TOOL_CALLS: ToolCallCounts = { entries: [], maxEvictedCount: 0 };

/** Certain number of calls, and the upper bound of further ones. */
export interface RepeatCount {
  readonly repeats: number;
  readonly uncountedRepeats: number;
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
  return { repeats: count, uncountedRepeats: maxEarlierCount };
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

/** Evicts the entry with the lowest count, the oldest among equals. */
function evictRarest(calls: readonly ToolCallCount[], forgotten: number): ToolCallCounts {
  const least = Math.min(...calls.map(maxCount));
  const at = calls.findIndex((entry) => maxCount(entry) === least);
  return { entries: calls.toSpliced(at, 1), maxEvictedCount: Math.max(forgotten, least) };
}

function maxCount({ count, maxEarlierCount: before }: ToolCallCount): number {
  return count + before;
}

/** Equal for calls of the same tool with the same arguments. */
function digestToolCall(name: string, input: JsonObject): string {
  return digestValue([name, input]);
}
