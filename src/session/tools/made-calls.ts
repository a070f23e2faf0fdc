import type { JsonObject } from "../../domain/json.ts";
import { digestOf } from "../../platform/digest.ts";

/** How often each call was made in a session. What is forgotten is still counted: as what may have been made. */
export interface MadeCalls {
  readonly calls: readonly MadeCall[];
  /** None of those that were forgotten was made more often than this. */
  readonly forgotten: number;
}

export interface MadeCall {
  /** Of the tool's name and the arguments. */
  readonly digest: string;
  /** Since it is remembered. */
  readonly count: number;
  /** How often it may have been made before that, at most. */
  readonly before: number;
}

export const NONE_MADE: MadeCalls = { calls: [], forgotten: 0 };

/** How often a call was made for certain, and how much more often it may have been. */
export interface TimesMade {
  readonly repeats: number;
  readonly repeatsForgotten: number;
}

export function timesMade(
  { calls, forgotten }: MadeCalls,
  name: string,
  input: JsonObject,
): TimesMade {
  const digest = callDigest(name, input);
  const { count, before } = calls.find((one) => one.digest === digest) ?? {
    count: 0,
    before: forgotten,
  };
  return { repeats: count, repeatsForgotten: before };
}

export function withMade(made: MadeCalls, name: string, input: JsonObject): MadeCalls {
  const { calls, forgotten } = made;
  const digest = callDigest(name, input);
  const at = calls.findIndex((one) => one.digest === digest);
  const known = calls[at];
  if (known !== undefined) {
    return { ...made, calls: calls.with(at, { ...known, count: known.count + 1 }) };
  }
  const all = [...calls, { digest, count: 1, before: forgotten }];
  return all.length > MOST_REMEMBERED ? withoutRarest(all, forgotten) : { calls: all, forgotten };
}

const MOST_REMEMBERED = 4096;

/** Of those that were made as seldom, the oldest goes. */
function withoutRarest(calls: readonly MadeCall[], forgotten: number): MadeCalls {
  const least = Math.min(...calls.map(mostTimes));
  const at = calls.findIndex((one) => mostTimes(one) === least);
  return { calls: calls.toSpliced(at, 1), forgotten: Math.max(forgotten, least) };
}

function mostTimes({ count, before }: MadeCall): number {
  return count + before;
}

/** The same for calls of one tool with the same arguments. */
function callDigest(name: string, input: JsonObject): string {
  return digestOf([name, input]);
}
