import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { examinePaths } from "../../src/tools/workspace/paths/examine-paths.ts";
import { findSandbox } from "../../src/tools/workspace/sandbox/find-sandbox.ts";
import type { WorkspaceToolsOptions } from "../../src/tools/workspace/workspace-tools.ts";
import { createTestWorkspace } from "../support/session/test-workspace.ts";

/** A workspace whose data directory is elsewhere, surrounded by folders of other projects. */
function amongProjects(options: Partial<WorkspaceToolsOptions> = {}) {
  const world = createTestWorkspace({ protectedFolders: [], ...options });
  world.write("sub/.spanline/bridge.json", "hunter2");
  world.write("sub/spanline.config.yaml", "hunter2");
  world.write("sub/open.txt", "not hunter2");
  mkdirSync(join(world.base, ".spanline"));
  writeFileSync(join(world.base, ".spanline/bridge.json"), "hunter2");
  symlinkSync(join(world.root, "sub/.spanline"), join(world.root, "link"));
  return world;
}

describe("Spanline folders of other projects", () => {
  it.each([
    "sub/.spanline",
    "sub/.spanline/bridge.json",
    "sub/.spanline/new/er.txt",
    "sub/.Spanline/bridge.json",
    "new/.spanline/x",
    "link/bridge.json",
    ".spanline/log.db",
    "../.spanline/bridge.json",
  ])("%s is protected [W-04]", async (input) => {
    const { root, run } = amongProjects();
    const place = { root, protectedFolders: [] };
    const [fact] = await examinePaths([{ argument: "path", input }], place);
    expect(fact?.location).toBe("protected");
    for (const [tool, more] of [
      ["read_file", {}],
      ["list_files", {}],
      ["write_file", { content: "x" }],
    ] as const) {
      await expect(run(tool, { path: input, ...more })).rejects.toMatchObject({
        details: { reason: "protected" },
      });
    }
  });

  it("A .spanline folder is neither listed nor searched", async () => {
    const { run } = amongProjects();
    const listed = await run("list_files", { path: "sub", glob: "**" });
    expect(listed.text).not.toContain(".spanline");
    const { text } = await run("search", { pattern: "hunter2", include_all: true });
    expect(text).toContain("sub/open.txt");
    expect(text).not.toContain("bridge.json");
    expect(text).not.toContain("config.yaml\n");
  });

  it("A folder whose name only starts with .spanline is not protected", async () => {
    const { run, write } = amongProjects();
    write(".spanlines/a.txt", "fine");
    expect((await run("read_file", { path: ".spanlines/a.txt" })).text).toContain("fine");
  });

  it("A .spanline folder above or inside the workspace is hidden from a confined command", async ({
    skip,
  }) => {
    const found = await findSandbox({ path: process.env["PATH"] ?? "", workspaces: [tmpdir()] });
    if (found.sandbox === undefined) return skip();
    const { run, root, base } = amongProjects({ sandbox: found.sandbox });
    const command = `cat ${root}/.spanline/log.db ${base}/.spanline/bridge.json; echo ran`;
    const { text } = await run("run_command", { command });
    expect(text).toContain("ran");
    expect(text).not.toMatch(/secret log|hunter2/);
  });
});
