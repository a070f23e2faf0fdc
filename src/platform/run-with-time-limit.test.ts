import { describe, expect, it } from "vitest";
import { TimeLimitError, runWithTimeLimit } from "./run-with-time-limit.ts";

describe("runWithTimeLimit", () => {
  it("The result of the work is returned, and its error is thrown", () => {
    expect(runWithTimeLimit(1000, () => [1])).toEqual([1]);
    expect(runWithTimeLimit(1000, () => undefined)).toBe(undefined);
    const thrown = new TypeError("No");
    expect(() =>
      runWithTimeLimit(1000, () => {
        throw thrown;
      }),
    ).toThrow(thrown);
  });

  it("An endless loop and a slow regular expression are stopped", () => {
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
