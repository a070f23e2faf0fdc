import * as fc from "fast-check";
import picomatch from "picomatch";
import { describe, expect, it } from "vitest";
import { readGlob } from "./glob.ts";
import { runs } from "../../../../test/support/test-depth.ts";

async function globOf(pattern: string): Promise<(path: string) => boolean> {
  const { glob } = (await readGlob(pattern)) as { glob: (path: string) => boolean };
  return glob;
}

describe("Globs", () => {
  it.each([
    ["*.ts", ["a.ts", "src/a.ts", ".ts"], ["a.tsx", "a.ts/b"]],
    ["src/*.ts", ["src/a.ts"], ["a.ts", "src/b/a.ts"]],
    ["src/**", ["src", "src/a", "src/a/b", "src/.hidden"], ["srcs/a"]],
    ["**/*.{js,ts}", ["a.js", "a/b.ts", "a/.b/c.js"], ["a.jsx"]],
    ["a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb"]],
    ["file?.[ab]", ["file1.a", "x/file2.b"], ["file.a", "file12.a"]],
    ["./src/*", ["src/a"], ["a"]],
    ["!a", ["!a"], ["a", "b"]],
    ["\\*", ["*"], ["a"]],
    ["**/new\nline*", ["a/new\nline.txt"], ["a/new"]],
  ])("The glob %j matches the expected paths", async (pattern, meant, others) => {
    const glob = await globOf(pattern);
    expect(meant.filter((path) => !glob(path))).toEqual([]);
    expect(others.filter((path) => glob(path))).toEqual([]);
  });

  it("A glob matches the same paths as picomatch, for paths without . and ..", async () => {
    const piece = fc.constantFrom("a", "b", ".", "*", "**", "?", "/", "[ab]", "[!a]", "{a,b}", "-");
    const patterns = fc.array(piece, { minLength: 1, maxLength: 6 }).map((all) => all.join(""));
    const name = fc
      .string({ unit: fc.constantFrom("a", "b", ".", "-"), minLength: 1, maxLength: 3 })
      .filter((text) => text !== "." && text !== "..");
    const paths = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));
    await fc.assert(
      fc.asyncProperty(patterns, fc.array(paths, { minLength: 5 }), async (pattern, all) => {
        const read = await readGlob(pattern);
        if (read.problem !== undefined) return;
        const options = { dot: true, noextglob: true, nonegate: true, posix: true };
        const other = picomatch.makeRe(pattern, options);
        const isName = !pattern.includes("/");
        for (const path of all) {
          const matchedText = isName ? path.slice(path.lastIndexOf("/") + 1) : path;
          expect([pattern, path, read.glob(path)]).toEqual([
            pattern,
            path,
            other.test(matchedText),
          ]);
        }
      }),
      { numRuns: runs(3000) },
    );
  });

  it("Matching finishes quickly on patterns that make backtracking engines hang", async () => {
    const glob = await globOf(`${"*a".repeat(30)}b`);
    expect(glob("a".repeat(255))).toBe(false);
    expect((await globOf(`${"{a,a}".repeat(60)}b`))("a".repeat(255))).toBe(false);
  });

  it("An invalid glob is refused with the reason", async () => {
    expect(await readGlob("{a")).toEqual({
      problem: "the glob has an unmatched bracket",
    });
    expect(await readGlob("x".repeat(501))).toEqual({ problem: "a glob has 1 to 500 characters" });
    expect((await readGlob("a(?<=b)")).problem).toBeDefined();
  });
});
