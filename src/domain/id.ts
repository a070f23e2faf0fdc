import { ID_ALPHABET } from "../data/id-alphabet.ts";
import type { QuestionKind } from "./question.ts";

/** The kind of object an id names; the first part of the id. */
export type IdPrefix =
  | "ses"
  | "turn"
  | "prompt"
  | "msg"
  | "msg_inj"
  | "rem"
  | "tool"
  | "inv"
  | "appr"
  | `hitl_${QuestionKind}`
  | "host"
  | "client"
  | "cmd"
  | "blob"
  | "grant"
  | "compact"
  | "worker"
  | "fsw"
  | "handoff"
  | "artifact";

/** Creates ids from the time and seed of one input, so the same input produces the same ids. */
export interface IdSource {
  next(prefix: IdPrefix): string;
}

/**
 * Returns the seed for the ids of one input: random, or derived from the position in a session's log. Called without a
 * position for a session without an id.
 */
export type Seed = (place?: { readonly sessionId: string; readonly seq: number }) => string;

/** Characters. A seed of this length replaces the time, too: its ids are not sorted by time. */
export const FULL_SEED_LENGTH = 23;

/**
 * Ids sorted by time: 10 characters of milliseconds, 3 characters of a counter, 13 characters of seed.
 *
 * The counter precedes the seed, so ids of one input sort in the order of their creation.
 */
export function createIdSource(at: number, seed: string): IdSource {
  const time = seed.length === FULL_SEED_LENGTH ? "" : encodeNumber(at, 10);
  let count = 0;
  return {
    next(prefix) {
      const id = `${prefix}_${time}${encodeNumber(count, 3)}${seed}`;
      count += 1;
      return id;
    },
  };
}

/** Creates a single id outside a decision. */
export function createId(prefix: IdPrefix, at: number, seed: string): string {
  return createIdSource(at, seed).next(prefix);
}

function encodeNumber(value: number, length: number): string {
  let text = "";
  for (
    let remaining = value;
    text.length < length;
    remaining = Math.floor(remaining / ID_ALPHABET.length)
  ) {
    text = ID_ALPHABET.charAt(remaining % ID_ALPHABET.length) + text;
  }
  return text;
}
