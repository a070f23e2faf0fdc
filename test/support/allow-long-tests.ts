import { vi } from "vitest";

/**
 * Gives the tests of a file five minutes each. For properties and fuzzing, which are bounded in runs and not in time, for
 * long histories, and for tests that build the package: a slow machine must not fail them.
 */
export function allowLongTests(): void {
  vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
}
