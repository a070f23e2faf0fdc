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

/** Chance as text of this many characters of the alphabet makes two ids of one millisecond differ. */
export const SEED_LENGTH = 13;
/** A text this long says all: ids that are made of it tell no time. */
export const FULL_SEED_LENGTH = 23;
/** Crockford's: no letter that looks like a digit, and in the order of its characters. */
export const ID_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

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
