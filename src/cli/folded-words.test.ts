import { describe, expect, it } from "vitest";
import { coloured } from "./style.ts";
import { foldedWords } from "./folded-words.ts";

describe("a row that is too wide", () => {
  it("is broken between words, with its indent", () => {
    expect(foldedWords("  one two three four", 10)).toEqual(["  one two", "  three", "  four"]);
    expect(foldedWords("  one  two", 20)).toEqual(["  one  two"]);
  });

  it("is broken anywhere where a word is as wide as the terminal", () => {
    expect(foldedWords(`  a ${"x".repeat(40)}`, 30)).toEqual([
      `  a ${"x".repeat(26)}`,
      `  ${"x".repeat(14)}`,
    ]);
  });

  it("is measured without its colours", () => {
    const { strong } = coloured();
    expect(foldedWords(`${strong("one")} two`, 7)).toEqual([`${strong("one")} two`]);
  });
});
