import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  matchesWildcard,
  mayMatchInAnySpelling,
  matchesExactly,
  HOLE,
  mayMatchWildcard,
  createSpelledText,
} from "./wildcard.ts";
import { allowLongTests, runs } from "../../../test/support/test-depth.ts";

allowLongTests();

const letter = fc.constantFrom("a", "b", "/", "\n", "😀");
const text = fc.array(letter, { maxLength: 8 }).map((letters) => letters.join(""));
const pattern = fc
  .array(fc.oneof(letter, fc.constantFrom("*", "?")), { maxLength: 6 })
  .map((letters) => letters.join(""));

describe("matchesWildcard", () => {
  it("Wildcards match the same texts as the equivalent regular expression", () => {
    fc.assert(
      fc.property(pattern, text, (pattern, text) => {
        const source = pattern.replaceAll("*", "[^]*").replaceAll("?", "[^]");
        expect(matchesWildcard(pattern, text)).toBe(new RegExp(`^${source}$`, "u").test(text));
      }),
      { numRuns: runs(5_000) },
    );
  });

  it("Matching finishes quickly where a regular expression would backtrack endlessly", () => {
    expect(matchesWildcard(`${"*a".repeat(400)}*b`, "a".repeat(20_000))).toBe(false);
  });

  it("A hole is matched by a star, never by a question mark", () => {
    expect(matchesWildcard("git *", `git ${HOLE}`)).toBe(true);
    expect(matchesWildcard("git ?", `git ${HOLE}`)).toBe(false);
  });
});

describe("mayMatchWildcard", () => {
  const holed = fc
    .array(fc.oneof(letter, fc.constant(HOLE)), { maxLength: 5 })
    .map((letters) => letters.join(""));

  it("A pattern may match if some filling of the holes matches", () => {
    fc.assert(
      fc.property(pattern, holed, text, (pattern, holed, filling) => {
        const filled = holed.replaceAll(HOLE, filling);
        fc.pre(matchesWildcard(pattern, filled));
        expect(mayMatchWildcard(pattern, holed)).toBe(true);
      }),
      { numRuns: runs(5_000) },
    );
  });

  it("A pattern cannot match if no filling of the holes matches", () => {
    expect(mayMatchWildcard("git push*", `git${HOLE}`)).toBe(true);
    expect(mayMatchWildcard("git push*", `echo ${HOLE}`)).toBe(false);
    expect(mayMatchWildcard("*.ts", `${HOLE}.js`)).toBe(false);
    expect(mayMatchWildcard("a?c", `a${HOLE}c`)).toBe(true);
    expect(mayMatchWildcard("", HOLE)).toBe(true);
    expect(mayMatchWildcard("**", `x${HOLE}`)).toBe(true);
  });
});

describe("Spellings", () => {
  it.each([
    ["café", "cafe\u0301", true],
    ["STRASSE", "straße", true],
    ["secret?", "secretß", true],
    ["secret?", "secret\u03B1\u0345", true],
    ["caf?\u0301", "cafe\u0301", true],
    [".git", ".g\u200Cit", true],
    ["key", "\u212Aey", true],
    ["src", "ｓｒｃ", false],
    ["src", "ѕrc", false],
  ])("Whether the denied pattern %j matches %j is %s", (pattern, name, expected) => {
    expect(mayMatchInAnySpelling(createSpelledText(pattern), createSpelledText(name))).toBe(
      expected,
    );
  });

  it.each([
    ["café", "cafe\u0301", false],
    ["src", "SRC", false],
    [".git", ".g\u200Cit", false],
    ["src", "ｓｒｃ", false],
  ])("Whether the allowed pattern %j matches %j is %s", (pattern, name, expected) => {
    expect(matchesExactly(createSpelledText(pattern), createSpelledText(name))).toBe(expected);
  });
});
