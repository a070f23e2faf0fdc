import { randomBytes } from "node:crypto";

/** Letters and digits that nobody can guess, six bits each. */
export function randomText(length: number): string {
  return randomBytes(length).toString("base64url").slice(0, length);
}

/** From 0 up to, but not including, 1. */
export function randomFraction(): number {
  return Math.random();
}
