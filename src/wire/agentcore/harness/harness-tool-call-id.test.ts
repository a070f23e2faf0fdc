import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toHarnessToolCallId, toOriginalToolCallId } from "./harness-tool-call-id.ts";

describe("Tool call ids for Harness", () => {
  it("A valid id stays unchanged, and every other id can be restored [AC-46]", () => {
    expect(toHarnessToolCallId("tooluse_A-1")).toBe("tooluse_A-1");
    expect(toHarnessToolCallId("functions.look:0")).toBe("x--functions_2e_look_3a_0");
    const id = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(id, (text) => {
        fc.pre(text.length * 7 + 3 <= 64);
        const mapped = toHarnessToolCallId(text);
        expect(mapped).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
        expect(toOriginalToolCallId(mapped)).toBe(text);
      }),
    );
  });

  it("An escaped id is not escaped again, so Harness receives its own ids unchanged [AC-46]", () => {
    const mapped = toHarnessToolCallId("functions.look:0");
    expect(toHarnessToolCallId(mapped)).toBe(mapped);
    for (const id of ["x--", "x--plain", "x--a_zz_b", "x--a_61_b", "x--_ffffff_"]) {
      expect(toOriginalToolCallId(toHarnessToolCallId(id))).toBe(id);
    }
  });

  it("An id that does not fit after escaping is refused [AC-46]", () => {
    expect(() => toHarnessToolCallId(":".repeat(40))).toThrow("at most 64 letters");
    expect(() => toHarnessToolCallId("")).toThrow("cannot be written");
  });
});
