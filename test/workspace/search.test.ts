import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/platform/clock.ts";
import { createTestWorkspace } from "../support/session/test-workspace.ts";

describe("search", () => {
  it("Lines are found by a regular expression, with paths relative to the workspace", async () => {
    const { run, write } = createTestWorkspace();
    write("src/a.ts", "const one = 1;\nlet two = 2;\nconst three = 3;\n");
    write("src/b.ts", "const four = 4;\r\n");
    write("c.md", "const five\n");
    expect(await run("search", { pattern: "^const \\w+ = \\d;$", path: "src" })).toEqual({
      text:
        "3 matching lines in 2 of 2 files\n" +
        "src/a.ts\n1: const one = 1;\n3: const three = 3;\n\nsrc/b.ts\n1: const four = 4;",
      data: { matches: 3, files: 2, stopped: null },
      locations: [
        { path: "src/a.ts", line: 1 },
        { path: "src/a.ts", line: 3 },
        { path: "src/b.ts", line: 1 },
      ],
    });
  });

  it("A literal string is found, optionally in any letter case", async () => {
    const { run, write } = createTestWorkspace();
    write("a", "f(x)\nF(X)\nfx\n");
    const lines = async (input: { readonly [name: string]: boolean }) =>
      (await run("search", { pattern: "f(x)", ...input })).locations?.map(({ line }) => line);
    expect(await lines({ literal: true })).toEqual([1]);
    expect(await lines({ literal: true, ignore_case: true })).toEqual([1, 2]);
    expect(await lines({})).toEqual([3]);
  });

  it("Context lines are shown once each", async () => {
    const { run, write } = createTestWorkspace();
    write("a", "1\n2 hit\n3\n4 hit\n5\n6\n7\n8\n9 hit\n");
    const { text } = await run("search", { pattern: "hit", context_lines: 1 });
    expect(text.split("\n").slice(2)).toEqual([
      "1- 1",
      "2: 2 hit",
      "3- 3",
      "4: 4 hit",
      "5- 5",
      "--",
      "8- 8",
      "9: 9 hit",
    ]);
  });

  it("A single file or the files of a glob can be searched", async () => {
    const { run, write } = createTestWorkspace();
    for (const path of ["a.ts", "b.js", "deep/c.ts"]) write(path, "hit");
    const found = async (input: { readonly [name: string]: string }) =>
      (await run("search", { pattern: "hit", ...input })).locations?.map(({ path }) => path);
    expect(await found({ path: "b.js" })).toEqual(["b.js"]);
    expect(await found({ glob: "*.ts" })).toEqual(["a.ts", "deep/c.ts"]);
    expect(await found({ path: "deep", glob: "*.ts" })).toEqual(["deep/c.ts"]);
    await expect(run("search", { pattern: "hit", path: "gone" })).rejects.toThrow(
      "gone does not exist",
    );
  });

  it("Binary files, large files and special files are skipped and counted", async () => {
    const { run, root, write, outside } = createTestWorkspace({ limits: { searchFileBytes: 100 } });
    write("text", "hit");
    write("binary", new Uint8Array([0x68, 0x69, 0x74, 0]));
    write("large", "hit".repeat(100));
    symlinkSync(outside, join(root, "out"));
    expect((await run("search", { pattern: "hit|secret" })).text).toBe(
      "1 matching line in 1 of 1 file\ntext\n1: hit\n" +
        "[1 file is too large to search]\n[1 file is not text]",
    );
  });

  it("Protected and outside files are never shown [W-04]", async () => {
    const { run, root, outside, data } = createTestWorkspace();
    mkdirSync(join(root, "a"));
    symlinkSync(outside, join(root, "a", "out"));
    symlinkSync(join(data, "log.db"), join(root, "a", "log"));
    const { text } = await run("search", { pattern: "secret", include_all: true });
    expect(text).toBe("0 matching lines in 0 of 0 files");
    await expect(run("search", { pattern: "secret", path: "a/out" })).rejects.toMatchObject({
      details: { reason: "outside" },
    });
    await expect(run("search", { pattern: "secret", path: "a/log" })).rejects.toMatchObject({
      details: { reason: "protected" },
    });
  });

  it("A search ends at its limits of matches, files and bytes, and names the limit", async () => {
    const limits = { searchMatches: 5, searchFiles: 3, searchBytes: 25 };
    const { run, write } = createTestWorkspace({ limits });
    for (const name of ["a", "b", "c", "d"]) write(name, "hit\nhit\n");
    const stopped = async (pattern: string, rest = {}) =>
      (await run("search", { pattern, ...rest })).data?.["stopped"];
    expect(await stopped("hit")).toBe("after 5 matches");
    expect(await stopped("hit", { max_matches: 2 })).toBe("after 2 matches");
    expect(await stopped("miss")).toBe("after 3 files");
    write("a", "x".repeat(30));
    expect(await stopped("miss")).toBe("after 30 bytes");
  });

  it("A search ends at its time limit, even inside a file", async () => {
    let now = 0;
    const clock = { ...systemClock, monotonic: () => (now += 1) };
    const { run, write } = createTestWorkspace({ clock, limits: { searchMs: 50 } });
    write("a", "miss\n".repeat(100_000));
    expect((await run("search", { pattern: "hit" })).data?.["stopped"]).toBe("after 0.05 seconds");
  });

  it("A pattern that backtracks in other engines runs in linear time", async () => {
    const { run, write } = createTestWorkspace();
    write("a", `${"a".repeat(10_000)}\n`.repeat(20));
    const { data } = await run("search", { pattern: "^(a+)+(a*)*$x" });
    expect(data).toMatchObject({ matches: 0, stopped: null });
  });

  it("Only the beginning of a 10 MB line is searched by a pattern, and all of it by a literal string", async () => {
    const { run, write } = createTestWorkspace({ limits: { searchFileBytes: 20_000_000 } });
    write("a", `hit ${"x".repeat(10_000_000)} end`);
    const start = await run("search", { pattern: "^hi." });
    expect(start.text).toContain("[only the beginning of 1 long line was searched]");
    expect(start.text.length).toBeLessThan(3000);
    expect((await run("search", { pattern: "e.d$" })).data).toMatchObject({ matches: 0 });
    expect((await run("search", { pattern: " end", literal: true })).data).toMatchObject({
      matches: 1,
    });
  });

  it("An invalid pattern is refused with the reason", async () => {
    const { run } = createTestWorkspace();
    const refused = (pattern: string, message: string) =>
      expect(run("search", { pattern })).rejects.toThrow(message);
    await refused("a(b", "missing closing )");
    await refused("(?=a)", "not a valid RE2 regular expression");
    await refused("a\nb", "line by line");
    await refused("", "1 to 1000 characters");
    await refused("(\\pL{900}){1}".repeat(5), "too large");
  });

  it("A search yields to other tasks and ends when its signal aborts", async () => {
    const { run, root } = createTestWorkspace();
    for (let at = 0; at < 300; at++) {
      writeFileSync(join(root, `f${at}`), "some line of text without much in it\n".repeat(2000));
    }
    const controller = new AbortController();
    let turns = 0;
    const tick = (): void => {
      turns += 1;
      if (turns === 20) controller.abort(new Error("enough"));
      else setImmediate(tick);
    };
    setImmediate(tick);
    const { signal } = controller;
    await expect(run("search", { pattern: "(x+x+)+[yz]" }, { signal })).rejects.toThrow("enough");
  });
});
