import { ID_ALPHABET } from "../data/id-alphabet.ts";

/** What an id stands for, readable at its front. */
export type IdPrefix =
  | "ses"
  | "turn"
  | "prompt"
  | "msg"
  | "tool"
  | "inv"
  | "appr"
  | "host"
  | "client"
  | "cmd"
  | "blob"
  | "grant";

/** Mints ids from a time and a piece of chance that came in with an input, so that the same input gives the same ids. */
export interface IdSource {
  next(prefix: IdPrefix): string;
}

/**
 * What the ids of one input are made of beside its time: of chance, or of how far the log of a session has come. Without
 * such a place it is for a session that is still to be named.
 */
export type Seed = (place?: { readonly sessionId: string; readonly seq: number }) => string;

/** A text this long says all: ids that are made of it tell no time. */
export const FULL_SEED_LENGTH = 23;

/**
 * Ids in the order of their time: ten characters of milliseconds, thirteen of chance, three that count.
 *
 * The count goes first behind the time, so that ids of one input keep the order in which they were minted.
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

/** One id, where no decision mints it. */
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
