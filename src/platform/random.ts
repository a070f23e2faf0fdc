import { randomBytes } from "node:crypto";

/** Letters and digits that nobody can guess, six bits each. */
export function randomText(length: number): string {
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

/** Chance for ids: so many characters of an alphabet of 32. */
export function randomSeed(alphabet: string, length: number): string {
  return Array.from(randomBytes(length), (byte) => alphabet.charAt(byte % alphabet.length)).join(
    "",
  );
}
