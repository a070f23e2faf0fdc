import * as fc from "fast-check";
import picomatch from "picomatch";
import { describe, expect, it } from "vitest";
import {
  matchesPath,
  mayMatchPath,
  mayMatchBelow,
  parsePathPattern,
  findPathPatternProblem,
  splitSegments,
} from "./path-pattern.ts";
import { allowLongTests, runs } from "../../../test/support/test-depth.ts";

allowLongTests();

const name = fc.constantFrom("a", "b", "ab", ".env", "a.ts", "(group)", "a+b", "$x", "^");
const path = fc.array(name, { minLength: 1, maxLength: 5 }).map((names) => names.join("/"));
const segment = fc.oneof(
  name,
  fc.constantFrom("**", "*", "?", "*.ts", "a*", "??", ".*", "{a,b}", "{a,*.ts}b", "{ab,{.env,b}}"),
);
const pattern = fc
  .array(segment, { minLength: 1, maxLength: 4 })
  .map((segments) => segments.join("/"));

/** Escapes characters which are special only in picomatch. */
function asPicomatch(pattern: string): string {
  return pattern.replaceAll(/[[\]()+$^!@|]/g, (sign) => `\\${sign}`);
}

describe("Path patterns", () => {
  it("Path patterns match the same paths as picomatch [W-03]", () => {
    fc.assert(
      fc.property(pattern, path, (pattern, path) => {
        expect(findPathPatternProblem(pattern)).toBeUndefined();
        // In picomatch `a/**` matches the folder `a`, but `a*/**` does not match its folder; here both match.
        const folder = pattern.replace(/(\/\*\*)+$/, "");
        const expected = [pattern, folder].some((one) =>
          picomatch(asPicomatch(one), { dot: true })(path),
        );
        expect(matchesPath(parsePathPattern(pattern), splitSegments(path))).toBe(expected);
      }),
      { numRuns: runs(3_000) },
    );
  });

  it("A pattern that allows a path would also deny it", () => {
    fc.assert(
      fc.property(pattern, path, (pattern, path) => {
        const parsed = parsePathPattern(pattern);
        fc.pre(matchesPath(parsed, splitSegments(path)));
        expect(mayMatchPath(parsed, splitSegments(path))).toBe(true);
      }),
      { numRuns: runs(500) },
    );
  });

  it("Matching finishes quickly on paths built to slow down regular expressions", () => {
    const stars = parsePathPattern("**/*a*a*a*a*.key");
    expect(matchesPath(stars, splitSegments("a".repeat(4_000)))).toBe(false);
    const globstars = parsePathPattern("**/a*/**/b*/**/c*/**/d*");
    expect(
      matchesPath(globstars, splitSegments(`${"a/".repeat(1_000)}${"b/".repeat(1_000)}x`)),
    ).toBe(false);
  });

  it("A line break in a name does not evade a pattern", () => {
    expect(matchesPath(parsePathPattern("**/.env"), splitSegments("a\nb/.env"))).toBe(true);
  });

  it("The workspace root matches ** and no other pattern", () => {
    for (const root of ["", "."]) {
      expect(matchesPath(parsePathPattern("**"), splitSegments(root))).toBe(true);
      expect(matchesPath(parsePathPattern("*"), splitSegments(root))).toBe(false);
    }
  });

  it("A pattern lies below the folders of its fixed part", () => {
    const secrets = parsePathPattern("src/secrets/**");
    expect(
      ["", "src", "SRC", "src/secrets", "lib", "src/secrets/x"].map((path) =>
        mayMatchBelow(secrets, splitSegments(path)),
      ),
    ).toEqual([true, true, true, false, false, false]);
    expect(mayMatchBelow(parsePathPattern("**/.env"), splitSegments("src"))).toBe(false);
  });

  it.each([
    ["!src/**", "negation"],
    ["src/!(a)", "extended glob"],
    ["@(a|b)/x", "extended glob"],
    [
      "key[0-9].txt",
      "has [; character classes are not supported: write each choice, as in {a,b}, or ?",
    ],
    ["app/[id]/page.tsx", "has [;"],
    ["a]", "has ];"],
    ["(a|b)/x", "has |;"],
    ["src\\**", "backslash"],
    ["~/x", "begins with ~"],
    ["src/", "end with /**"],
    ["src//x", "empty segment"],
    ["./src", "segment ."],
    ["src/../x", "segment .."],
    ["{a,..}/x", "segment .."],
    ["src/**.ts", "stand alone"],
    ["{1..9}", "two or more choices"],
    ["{a}", "two or more choices"],
    ["{a,}", "none of them empty"],
    ["{a,b", "other half"],
    ["a}", "other half"],
    ["{a,b}".repeat(9), "256 expansions"],
    ["{a,b,c}".repeat(200), "256 expansions"],
  ])("The pattern %.30s is refused", (pattern, part) => {
    expect(findPathPatternProblem(pattern)).toContain(part);
  });
});
