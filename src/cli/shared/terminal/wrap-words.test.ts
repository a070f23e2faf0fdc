import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { wrapWords } from "./wrap-words.ts";
import { measureText } from "../../markdown/text-width.ts";
import { createColorStyle } from "./color-style.ts";

describe("a row that is too wide", () => {
  it("is broken between words, with its indent", () => {
    expect(wrapWords("  one two three four", 10)).toEqual(["  one two", "  three", "  four"]);
    expect(wrapWords("  one  two", 20)).toEqual(["  one  two"]);
  });

  it("is broken within a word only where that is wider than a row", () => {
    expect(wrapWords(`  a ${"x".repeat(40)} b c`, 30)).toEqual([
      "  a",
      `  ${"x".repeat(28)}`,
      `  ${"x".repeat(12)} b c`,
    ]);
    expect(wrapWords("x".repeat(40), 30)).toEqual(["x".repeat(30), "x".repeat(10)]);
  });

  it("is never wider than the terminal, and loses no word", () => {
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

  it("is measured without its colours", () => {
    const { strong } = createColorStyle();
    expect(wrapWords(`${strong("one")} two`, 7)).toEqual([`${strong("one")} two`]);
  });
});
