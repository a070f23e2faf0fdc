import { describe, expect, it } from "vitest";
import { formatCursor, parseCursor } from "./cursor-text.ts";

describe("Cursors as text", () => {
  it.each([
    { incarnation: "abc", seq: 0 },
    { incarnation: "a.b.7", seq: 123_456_789 },
  ])("A cursor is parsed as it was formatted: %j", (cursor) => {
    expect(parseCursor(formatCursor(cursor))).toEqual(cursor);
  });

  it.each([
    "",
    ".",
    "a",
    "a.",
    ".1",
    "a.1 ",
    "a.-1",
    "a.1e3",
    "a b.1",
    "a\n.1",
    "a.9999999999999999",
  ])("%j is not a valid cursor", (text) => {
    expect(parseCursor(text)).toBeUndefined();
  });
});
