import { ID_ALPHABET, idsFrom, SEED_LENGTH, type IdPrefix } from "../domain/id.ts";
import { randomSeed } from "../platform/random.ts";

/** Chance for the ids of one input. */
export function newSeed(): string {
  return randomSeed(ID_ALPHABET, SEED_LENGTH);
}

/** One id, where no decision mints it. */
export function newId(prefix: IdPrefix, at: number, seed = newSeed()): string {
  return idsFrom(at, seed).next(prefix);
}
