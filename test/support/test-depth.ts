import { vi } from "vitest";

/**
 * How much work randomised and exhaustive tests do. `npm run test:fast` sets `quick`, `npm run test:full` sets `full`.
 * `all` also combines independent settings with each other, such as every kill with every policy, and takes three times
 * as long as `full`. Default: `usual`.
 */
export type TestDepth = (typeof DEPTHS)[number];

const DEPTHS = ["quick", "usual", "full", "all"] as const;

export function testDepth(): TestDepth {
  const depth = process.env["SPANLINE_TEST_DEPTH"];
  return DEPTHS.find((known) => known === depth) ?? "usual";
}

/** True if the tests try every case of each setting, at least in one combination with the other settings. */
export function isThorough(): boolean {
  return testDepth() === "full" || testDepth() === "all";
}

/** The number of random cases: all of them in the full lane, fewer in `npm test` and the fast lane, at least 20. */
export function runs(count: number): number {
  const share = { quick: 0.1, usual: 0.4, full: 1, all: 1 }[testDepth()];
  return Math.max(20, Math.ceil(count * share));
}

/**
 * Sets the timeout of the tests in a file to five minutes, or to `atLeastMs` if longer. For property tests and fuzzing,
 * which are limited in runs and not in time, for long histories, and for tests which build the package: a slow machine
 * must not fail them.
 */
export function allowLongTests(atLeastMs = 0): void {
  const timeout = Math.max(FIVE_MINUTES_MS, atLeastMs);
  vi.setConfig({ testTimeout: timeout, hookTimeout: timeout });
}

const FIVE_MINUTES_MS = 300_000;
