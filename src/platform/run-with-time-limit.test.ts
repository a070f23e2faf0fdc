import { describe, expect, it } from "vitest";
import { TimeLimitError, runWithTimeLimit } from "./run-with-time-limit.ts";

describe("work within a time", () => {
  it("gives what it made, or throws what it threw", () => {
    expect(runWithTimeLimit(1000, () => [1])).toEqual([1]);
    expect(runWithTimeLimit(1000, () => undefined)).toBe(undefined);
    const thrown = new TypeError("No");
    expect(() =>
      runWithTimeLimit(1000, () => {
        throw thrown;
      }),
    ).toThrow(thrown);
  });

  it("is stopped in the middle of a loop, and of a regular expression", () => {
    const loop = (): never => {
      for (;;);
    };
    expect(() => runWithTimeLimit(20, loop)).toThrow(TimeLimitError);
    expect(() => runWithTimeLimit(20, () => /^(a+)+$/.test(`${"a".repeat(40)}!`))).toThrow(
      TimeLimitError,
    );
    expect(runWithTimeLimit(1000, () => "afterwards")).toBe("afterwards");
  });
});
