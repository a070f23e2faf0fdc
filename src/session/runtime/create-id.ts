import { ID_ALPHABET, createIdSource, SEED_LENGTH, type IdPrefix } from "../../domain/id.ts";
import { randomSeed } from "../../platform/random.ts";

/**
 * What the ids of one input are made of beside its time: of chance, or of how far the log of a session has come. Without
 * such a place it is for a session that is still to be named.
 */
export type Seed = (place?: { readonly sessionId: string; readonly seq: number }) => string;

/** Chance for the ids of one input. */
export function createSeed(): string {
  return randomSeed(ID_ALPHABET, SEED_LENGTH);
}

/** One id, where no decision mints it. */
export function createId(prefix: IdPrefix, at: number, seed = createSeed()): string {
  return createIdSource(at, seed).next(prefix);
}
