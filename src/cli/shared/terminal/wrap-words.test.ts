import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wrapWords } from "./wrap-words.ts";
import { measureText } from "../../markdown/text-width.ts";
import { createColorStyle } from "./color-style.ts";

describe("A row wider than the terminal", () => {
  it("A wide row is broken between words and keeps its indent", () => {
    expect(wrapWords("  one two three four", 10)).toEqual(["  one two", "  three", "  four"]);
    expect(wrapWords("  one  two", 20)).toEqual(["  one  two"]);
  });

  it("A word is broken only if it is wider than a row", () => {
    expect(wrapWords(`  a ${"x".repeat(40)} b c`, 30)).toEqual([
      "  a",
      `  ${"x".repeat(28)}`,
      `  ${"x".repeat(12)} b c`,
    ]);
    expect(wrapWords("x".repeat(40), 30)).toEqual(["x".repeat(30), "x".repeat(10)]);
  });

  it("Wrapped rows fit the terminal and contain every word", () => {
    const word = fc.string({
      unit: fc.constantFrom("a", "b", "好", "😀", "é"),
      minLength: 1,
      maxLength: 60,
    });
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1 }),
        fc.integer({ min: 0, max: 90 }),
        fc.integer({ min: 20, max: 60 }),
        (words, indent, width) => {
          const rows = wrapWords(" ".repeat(indent) + words.join(" "), width);
          expect(rows.filter((row) => measureText(row) > width)).toEqual([]);
          expect(rows.join("").replaceAll(" ", "")).toBe(words.join(""));
        },
      ),
    );
  });

  it("Colors do not count as width", () => {
    const { strong } = createColorStyle();
    expect(wrapWords(`${strong("one")} two`, 7)).toEqual([`${strong("one")} two`]);
  });
});
