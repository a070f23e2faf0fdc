import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanLine, cleanText } from "./clean-text.ts";

describe("Cleaning of foreign text", () => {
  it.each([
    ["plain\n\ttext ✓", "plain\n\ttext ✓"],
    ["\u001b[2Jclear\u0007", "[2Jclear"],
    ["a\u202eb\u2066c\u200bd\ufeff", "abcd"],
    ["hidden\u{E0068}\u{E0069}\u{E01EF}", "hidden"],
    ["half\ud800pair", "halfpair"],
    ["می\u200cخواهم", "می\u200cخواهم"],
    ["\r\nlines\r\n", "lines"],
  ])("Only the visible characters of %j are kept", (text, clean) => {
    expect(cleanText(text, 100)).toBe(clean);
  });

  it("A long text is cut at its limit, never inside a character", () => {
    expect(cleanText("abcdef", 4)).toBe("abc…");
    expect(cleanText("ab😀def", 4)).toBe("ab\ufffd…");
    expect(cleanLine("a\n\n  b\tc", 10)).toBe("a b c");
  });

  it("A cleaned text is within the limit, has no hidden characters, and stays the same when cleaned again", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 2, max: 50 }), (text, limit) => {
        const clean = cleanText(text, limit);
        expect(clean.length).toBeLessThanOrEqual(limit);
        expect(clean.isWellFormed()).toBe(true);
        // eslint-disable-next-line no-control-regex
        expect(clean).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
        expect(cleanText(clean, limit)).toBe(clean);
      }),
    );
  });
});
