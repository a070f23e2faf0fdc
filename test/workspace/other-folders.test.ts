import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { definePolicy } from "../../src/bridge/agent/define-policy.ts";
import { evaluatePolicy } from "../../src/policy/evaluate-policy.ts";
import { examinePaths } from "../../src/tools/workspace/paths/examine-paths.ts";
import { createBubblewrapArguments } from "../../src/tools/workspace/sandbox/bubblewrap-arguments.ts";
import { findSandbox } from "../../src/tools/workspace/sandbox/find-sandbox.ts";
import { workspaceTools } from "../../src/tools/workspace/workspace-tools.ts";
import {
  createTestWorkspace,
  runTool,
  createTemporaryFolder,
} from "../support/session/test-workspace.ts";

const found = await findSandbox({ path: process.env["PATH"] ?? "", workspaces: [] });

/** A workspace, an additional folder which belongs to it, and a folder which does not. */
function twoFolders(options: object = {}) {
  const base = createTemporaryFolder();
  const [root, library, elsewhere] = ["project", "library", "elsewhere"].map((name) =>
    join(base, name),
  ) as [string, string, string];
  for (const folder of [root, library, elsewhere, join(library, ".spanline")]) mkdirSync(folder);
  writeFileSync(join(library, "a.txt"), "of the library\n");
  writeFileSync(join(library, ".spanline", "log"), "secret\n");
  writeFileSync(join(elsewhere, "b.txt"), "secret\n");
  symlinkSync(elsewhere, join(library, "way"));
  const tools = workspaceTools({ root: () => root, protectedFolders: [], ...options });
  const run = (name: string, input: object) =>
    runTool(
      tools.find(({ spec }) => spec.name === name),
      { ...input },
      { folders: [library] },
    );
  return { base, root, library, elsewhere, run };
}

describe("Additional folders of a workspace", () => {
  it("An additional folder is read, searched and written by absolute paths [ACP-49]", async () => {
    const { root, library, run } = twoFolders();
    const path = join(library, "a.txt");
    expect((await run("read_file", { path })).text).toContain(`${path}, line 1 of 1`);
    expect((await run("search", { pattern: "library", path: library })).text).toContain(
      `${path}\n1: of the library`,
    );
    const edit = { path, old_text: "of the", new_text: "of a" };
    const { diffs, locations } = await run("edit_file", edit);
    expect(diffs).toEqual([{ path, oldText: "of the library\n", newText: "of a library\n" }]);
    expect(locations).toEqual([{ path, line: 1 }]);
    await run("write_file", { path: join(library, "deep/new.txt"), content: "new" });
    expect(readFileSync(join(library, "deep/new.txt"), "utf8")).toBe("new");
    expect((await run("list_files", {})).text).toContain(
      `[other folders of the workspace: ${library}]`,
    );
    expect((await run("list_files", { path: library })).text).toContain("a.txt");
    const { text } = await run("run_command", { argv: ["pwd"], working_directory: library });
    expect(text).toContain(library);
    expect(root).not.toBe(library);
  });

  it("An additional folder has the same boundaries as the workspace [W-04] [ACP-49]", async () => {
    const { library, elsewhere, run } = twoFolders();
    for (const path of [
      join(elsewhere, "b.txt"),
      join(library, "way/b.txt"),
      join(library, "../elsewhere/b.txt"),
      join(library, ".spanline/log"),
      "../library2/a.txt",
    ]) {
      await expect(run("read_file", { path }), path).rejects.toThrow("cannot be used");
      await expect(run("write_file", { path, content: "x" }), path).rejects.toThrow(
        "cannot be used",
      );
    }
    expect((await run("search", { pattern: "secret", path: library })).text).toContain(
      "0 matching",
    );
  });

  it("Rules match paths in an additional folder relative to it and by the absolute path", async () => {
    const { root, library } = twoFolders();
    const pathFact = { argument: "path", input: join(library, "secrets/key.txt") };
    const [fact] = await examinePaths([pathFact], {
      root,
      folders: [library],
      protectedFolders: [],
    });
    expect(fact).toEqual({
      ...pathFact,
      location: "inside",
      workspacePath: "secrets/key.txt",
      folder: library,
      hostPath: pathFact.input,
    });
    const context = {
      tool: "write_file",
      kind: "edit",
      sideEffect: "workspace_write",
      capabilities: [],
      paths: fact === undefined ? [] : [fact],
      repeats: 0,
    } as const;
    const denies = (pattern: string) => {
      const rules = [{ match: { path: pattern }, action: "deny" }];
      return evaluatePolicy(definePolicy({ rules, default: "allow" }), context, {}).action;
    };
    expect([denies("secrets/**"), denies(`${library}/**`), denies("src/**")]).toEqual([
      "deny",
      "deny",
      "allow",
    ]);
  });

  it("Additional folders are ignored if all sessions share one folder, and the root directory is not accepted", async () => {
    const fixed = createTestWorkspace();
    const input = { path: join(fixed.outside, "secret.txt") };
    await expect(
      runTool(fixed.tools.get("read_file"), input, { folders: [fixed.outside] }),
    ).rejects.toThrow("cannot be used");
    const { root, elsewhere } = twoFolders();
    const paths = [{ argument: "path", input: join(elsewhere, "b.txt") }];
    const [fact] = await examinePaths(paths, { root, folders: ["/", "/."], protectedFolders: [] });
    expect(fact?.location).toBe("outside");
  });

  it("The sandbox binds additional folders for writing", () => {
    const parts = { root: "/work", workingDirectory: "/work", hidden: [], network: false };
    const args = createBubblewrapArguments({ ...parts, folders: ["/lib"] }, ["ls"]).join(" ");
    expect(args).toContain("--bind /work /work --bind /lib /lib --chdir");
  });

  it.runIf(found.sandbox !== undefined)(
    "A confined command can write to an additional folder and nowhere else",
    async () => {
      const { library, elsewhere, run } = twoFolders({ sandbox: found.sandbox });
      const command = `touch ${library}/made; touch ${elsewhere}/made; cat ${library}/.spanline/log`;
      const { text } = await run("run_command", { command });
      expect(readFileSync(join(library, "made"), "utf8")).toBe("");
      expect(text).toMatch(/touch: cannot touch .*elsewhere\/made/);
      expect(text).not.toContain("secret");
    },
  );
});
