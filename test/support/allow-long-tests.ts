import { vi } from "vitest";

/**
 * Gives the tests of a file five minutes each, or `atLeastMs` if that is more. For properties and fuzzing, which are bounded in runs and not in time, for
 * long histories, and for tests that build the package: a slow machine must not fail them.
 */
export function allowLongTests(atLeastMs = 0): void {
  const timeout = Math.max(FIVE_MINUTES_MS, atLeastMs);
  vi.setConfig({ testTimeout: timeout, hookTimeout: timeout });
}

const FIVE_MINUTES_MS = 300_000;
