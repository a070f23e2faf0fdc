import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTestWorkspace } from "../support/session/test-workspace.ts";

const listed = (text: string): string[] => text.split("\n").slice(1);

describe("list_files", () => {
  it("A folder is listed in order, with a note about folders that were not entered", async () => {
    const { run, write, root } = createTestWorkspace();
    write("b.txt", "");
    write("a/x.txt", "");
    write("B.txt", "");
    symlinkSync("a", join(root, "link"));
    expect(await run("list_files", {})).toEqual({
      text: "4 in .\nB.txt\na/\nb.txt\nlink (link)\n[1 folder was not entered (depth 1)]",
      data: { path: ".", listed: 4, more: 0, isCut: false },
      locations: [{ path: "." }],
    });
  });

  it("Protected folders are neither listed nor entered", async () => {
    const { run, data, write } = createTestWorkspace();
    mkdirSync(join(data, "deep"));
    write("a", "");
    const { text } = await run("list_files", { glob: "**", include_all: true });
    expect(listed(text)).toEqual(["a"]);
    await expect(run("list_files", { path: ".spanline" })).rejects.toMatchObject({
      details: { reason: "protected" },
    });
  });

  it("A glob is matched in all subfolders of the given folder", async () => {
    const { run, write } = createTestWorkspace();
    for (const path of ["src/a.ts", "src/deep/b.ts", "src/deep/c.js", "d.ts"]) write(path, "");
    const found = async (input: { readonly [name: string]: string | number }) =>
      listed((await run("list_files", input)).text).filter((line) => !line.startsWith("["));
    expect(await found({ glob: "*.ts" })).toEqual(["d.ts", "src/a.ts", "src/deep/b.ts"]);
    expect(await found({ glob: "src/*.ts" })).toEqual(["src/a.ts"]);
    expect(await found({ glob: "src/**" })).toEqual([
      "src/",
      "src/a.ts",
      "src/deep/",
      "src/deep/b.ts",
      "src/deep/c.js",
    ]);
    expect(await found({ glob: "deep/*.{js,ts}", path: "src" })).toEqual([
      "deep/b.ts",
      "deep/c.js",
    ]);
    expect(await found({ glob: "*.ts", depth: 2 })).toEqual(["d.ts", "src/a.ts"]);
    await expect(run("list_files", { glob: "{a" })).rejects.toThrow("bracket");
    await expect(run("list_files", { glob: "" })).rejects.toThrow("a glob has 1 to 500 characters");
  });

  it("Links that lead out of the workspace are not followed [W-04]", async () => {
    const { run, root, outside } = createTestWorkspace();
    symlinkSync(outside, join(root, "out"));
    symlinkSync(root, join(root, "self"));
    expect(listed((await run("list_files", { glob: "**" })).text)).toEqual([
      "out (link)",
      "self (link)",
    ]);
    await expect(run("list_files", { path: "out" })).rejects.toMatchObject({
      details: { reason: "outside" },
    });
    expect((await run("list_files", { path: "self" })).data).toMatchObject({ path: "." });
  });

  it(".git and node_modules are entered only on request, and .gitignore has no effect", async () => {
    const { run, write } = createTestWorkspace();
    for (const path of [".git/config", "node_modules/x/i.js", ".gitignore", "build/o.js"]) {
      write(path, path === ".gitignore" ? "build\n" : "");
    }
    expect(listed((await run("list_files", { glob: "**" })).text)).toEqual([
      ".git/",
      ".gitignore",
      "build/",
      "build/o.js",
      "node_modules/",
      "[2 of .git and node_modules were not entered]",
    ]);
    const all = await run("list_files", { glob: "*.js", include_all: true });
    expect(listed(all.text)).toEqual(["build/o.js", "node_modules/x/i.js"]);
    expect(listed((await run("list_files", { path: "node_modules/x" })).text)).toEqual(["i.js"]);
  });

  it("Names with line breaks, quotes or names of object properties are listed correctly", async () => {
    const { run, root } = createTestWorkspace();
    for (const name of ["a\nb", "__proto__", "constructor", 'q"q', "[1 more]", "ü"]) {
      writeFileSync(join(root, name), "");
    }
    expect(listed((await run("list_files", {})).text)).toEqual([
      '"[1 more]"',
      "__proto__",
      String.raw`"a\nb"`,
      "constructor",
      String.raw`"q\"q"`,
      "ü",
    ]);
  });

  it("The list is limited among 10,000 files", async () => {
    const { run, root } = createTestWorkspace({ limits: { listEntries: 3 } });
    mkdirSync(join(root, "many"));
    for (let at = 0; at < 10_000; at++) writeFileSync(join(root, "many", `f${at}`), "");
    const { text, data } = await run("list_files", { path: "many" });
    expect(listed(text)).toEqual([
      "f0",
      "f1",
      "f10",
      "[9997 more are not shown; use a glob or a deeper path]",
    ]);
    expect(data).toEqual({ path: "many", listed: 3, more: 9997, isCut: false });
  });

  it("The number of visited entries is limited, and the result says so", async () => {
    const { run, root } = createTestWorkspace({ limits: { walkEntries: 5 } });
    for (let at = 0; at < 10; at++) writeFileSync(join(root, `f${at}`), "");
    const { text, data } = await run("list_files", { glob: "**" });
    expect(text).toContain("[only the first 5 entries were read]");
    expect(data).toMatchObject({ isCut: true });
  });

  it("The depth is limited, and a deeper path can be listed directly", async () => {
    const { run, root } = createTestWorkspace({ limits: { depth: 20 } });
    mkdirSync(join(root, ...Array.from({ length: 300 }, () => "d")), { recursive: true });
    const { text, data } = await run("list_files", { glob: "**" });
    expect(data).toMatchObject({ listed: 20 });
    expect(text).toContain("[1 folder was not entered (depth 20)]");
    const path = Array.from({ length: 290 }, () => "d").join("/");
    expect((await run("list_files", { path })).data).toMatchObject({ listed: 1 });
  });

  it("A hard link to a protected file is listed by name, and its content is not shown", async () => {
    const { run, root, data } = createTestWorkspace();
    linkSync(join(data, "log.db"), join(root, "hard"));
    expect(listed((await run("list_files", {})).text)).toEqual(["hard"]);
    expect((await run("search", { pattern: "secret" })).text).toBe(
      "0 matching lines in 0 of 0 files\n[1 file could not be read]",
    );
  });

  it("list_files ends when its signal aborts", async () => {
    const { run, write } = createTestWorkspace();
    write("a", "");
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(run("list_files", { glob: "**" }, { signal })).rejects.toThrow("enough");
  });

  it("A file and a missing folder are refused", async () => {
    const { run, write } = createTestWorkspace();
    write("file", "");
    await expect(run("list_files", { path: "file" })).rejects.toThrow("file is not a folder");
    await expect(run("list_files", { path: "gone" })).rejects.toThrow("gone does not exist");
  });
});
