import { randomBytes } from "node:crypto";
import { ID_ALPHABET, SEED_LENGTH } from "../data/id-alphabet.ts";

/** Letters and digits that nobody can guess, six bits each. */
export function randomString(length: number): string {
  return randomBytes(length).toString("base64url").slice(0, length);
}

/** A token of 41 characters for a request that must count once: letters and digits alone, as services want them. */
export function randomToken(): string {
  return `t${randomHex(20)}`;
}

/** So many bytes that nobody can guess, two digits each. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}

/** From 0 up to, but not including, 1. */
export function randomFraction(): number {
  return Math.random();
}

/** Chance for the ids of one input. */
export function randomSeed(): string {
  if (poolOffset + SEED_LENGTH > pool.length) {
    pool = randomBytes(POOL_BYTES);
    poolOffset = 0;
  }
  let text = "";
  for (const end = poolOffset + SEED_LENGTH; poolOffset < end; poolOffset += 1) {
    text += ID_ALPHABET.charAt((pool[poolOffset] ?? 0) % ID_ALPHABET.length);
  }
  return text;
}

/** Chance is fetched for many ids at once: every event has one, and to fetch it costs more than to write it down. */
const POOL_BYTES = 4096;
let pool = new Uint8Array();
let poolOffset = 0;
