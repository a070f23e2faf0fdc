import { describe, expect, it } from "vitest";
import {
  createHarnessState,
  MAX_VERSIONS,
  updateHarnessState,
  type ChangeContext,
} from "./harness-changes.ts";
import { NO_DELAYS } from "./delays.ts";

const CONTEXT: ChangeContext = { now: 0, delays: NO_DELAYS, takeInjected: () => undefined };

describe("Harness versions", () => {
  it("A harness has at most 1000 versions", () => {
    const configuration = { executionRoleArn: "arn:aws:iam::123456789012:role/agent" };
    const definition = { id: "one-0123456789", name: "one", configuration, tags: {} };
    const update = (harness: ReturnType<typeof createHarnessState>) =>
      updateHarnessState(harness, { set: {}, clear: [] }, CONTEXT);
    let harness = createHarnessState(definition, CONTEXT);
    for (let number = 2; number <= MAX_VERSIONS; number++) harness = update(harness);
    expect(harness.versions.at(-1)?.number).toBe(1000);
    expect(() => update(harness)).toThrow(
      expect.objectContaining({
        status: 402,
        type: "ServiceQuotaExceededException",
        message: "Harness one-0123456789 has 1000 versions, which is the limit",
      }),
    );
  });
});
