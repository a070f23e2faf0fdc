import { randomBytes } from "node:crypto";
import { ID_ALPHABET, SEED_LENGTH } from "../data/id-alphabet.ts";

/** Cryptographically random base64url characters, six bits each. */
export function randomString(length: number): string {
  return randomBytes(length).toString("base64url").slice(0, length);
}

/** A random token of 41 letters and digits for idempotent requests. All services accept these characters. */
export function randomToken(): string {
  return `t${randomHex(20)}`;
}

/** Cryptographically random bytes, as two hex digits each. */
export function randomHex(bytes: number): string {
  return randomBytes(bytes).toString("hex");
}

/** From 0 up to, but not including, 1. */
export function randomFraction(): number {
  return Math.random();
}

/** A random seed for the ids of one input. */
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

/**
 * Random bytes are fetched for many seeds at once: every event needs a seed, and fetching random bytes costs more than
 * encoding them.
 */
const POOL_BYTES = 4096;
let pool = new Uint8Array();
let poolOffset = 0;
