import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCursorMeta, parseUpdateCursor, formatUpdateCursor } from "./update-cursor.ts";

describe("Update cursor", () => {
  it("A formatted cursor parses to the same cursor [W-33]", () => {
    const cursor = fc.record({
      incarnation: fc.stringMatching(/^[!-~]{1,40}$/),
      seq: fc.nat(),
      updateOffset: fc.nat(),
    });
    fc.assert(
      fc.property(cursor, (one) => {
        expect(parseUpdateCursor(formatUpdateCursor(one))).toEqual(one);
      }),
    );
  });

  it.each([
    "",
    "a",
    ".1",
    "a.",
    "a.x",
    "a.1+",
    "a.1+x",
    "a.-1",
    "ä.1",
    "a b.1",
    `a.${"9".repeat(16)}`,
  ])("The string %j is not a valid cursor", (text) =>
    expect(parseUpdateCursor(text)).toBe(undefined),
  );

  it("A cursor is read only from _meta.harn.cursor", () => {
    expect(readCursorMeta({ harn: { cursor: "a.1" } })).toBe("a.1");
    for (const meta of [undefined, null, {}, { cursor: "a.1" }, { harn: "a.1" }]) {
      expect(readCursorMeta(meta)).toBe(undefined);
    }
  });
});
