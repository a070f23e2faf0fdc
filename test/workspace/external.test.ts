import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PathFact } from "../../src/domain/policy/policy-decision.ts";
import { definePolicy } from "../../src/bridge/agent/define-policy.ts";
import { createReadFilter } from "../../src/bridge/configured/create-workspace.ts";
import { examinePaths } from "../../src/tools/workspace/paths/examine-paths.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/session/test-workspace.ts";

/** Resolves a path as the policy evaluation does. */
function judged({ root, data }: TestWorkspace, input: string): Promise<PathFact[]> {
  return examinePaths([{ argument: "path", input }], { root, protectedFolders: [data] });
}

describe("Allowed paths outside the workspace", () => {
  it("An allowed external path can be read, listed and searched", async () => {
    const world = createTestWorkspace();
    const { run, outside } = world;
    const file = join(outside, "secret.txt");
    const read = await run("read_file", { path: file }, { paths: await judged(world, file) });
    expect(read.text).toContain("secret outside");
    expect(read.data).toMatchObject({ path: file });
    const paths = await judged(world, "../outside");
    const listed = await run("list_files", { path: "../outside" }, { paths });
    expect(listed.text).toContain("secret.txt");
    const found = await run("search", { path: "../outside", pattern: "secret" }, { paths });
    expect(found.text).toContain(`${file}\n1`);
  });

  it("An external path is refused without permission, and never written or used as working directory", async () => {
    const world = createTestWorkspace();
    const { run, outside } = world;
    const path = join(outside, "secret.txt");
    const paths = await judged(world, path);
    const refused = { details: { reason: "outside" } };
    await expect(run("read_file", { path })).rejects.toMatchObject(refused);
    await expect(run("read_file", { path }, { paths: [] })).rejects.toMatchObject(refused);
    const write = run("write_file", { path, content: "x" }, { paths });
    await expect(write).rejects.toMatchObject(refused);
  });

  it.each(["/proc/self/environ", "/dev/zero", "/sys/kernel/uevent_seqnum"])(
    "%s cannot be read even with permission",
    async (path) => {
      const world = createTestWorkspace();
      const call = world.run("read_file", { path }, { paths: await judged(world, path) });
      await expect(call).rejects.toMatchObject({ code: "workspace_refused" });
    },
  );

  it("An external path is refused if a parent folder was replaced by a link since [W-04]", async () => {
    const world = createTestWorkspace();
    const { run, outside, base } = world;
    mkdirSync(join(outside, "a/b"), { recursive: true });
    writeFileSync(join(outside, "a/b/file.txt"), "fine");
    mkdirSync(join(base, "other/b"), { recursive: true });
    writeFileSync(join(base, "other/b/file.txt"), "SECRET");
    const path = join(outside, "a/b/file.txt");
    const paths = await judged(world, path);
    renameSync(join(outside, "a"), join(outside, "was"));
    symlinkSync(join(base, "other"), join(outside, "a"));
    await expect(run("read_file", { path }, { paths })).rejects.toMatchObject({
      code: "workspace_refused",
    });
  });

  it("A search skips external files that may not be read", async () => {
    const world = createTestWorkspace({
      mayRead: ({ hostPath }) => !hostPath.endsWith("secret.txt"),
    });
    const { run } = world;
    const paths = await judged(world, "../outside");
    const { text } = await run("search", { path: "../outside", pattern: "secret" }, { paths });
    expect(text).toContain("1 file may not be read here");
  });

  it("A search that starts outside skips workspace files that rules deny", async () => {
    const policy = definePolicy({
      allow_external_paths: true,
      sensitive_path_patterns: ["*.key"],
      rules: [{ allow: true }, { deny: { path: "private/**" } }],
    });
    const world = createTestWorkspace({ mayRead: createReadFilter(policy) });
    const { run, base, write } = world;
    write("private/plan.txt", "secret plan");
    write("own.key", "secret key");
    write("notes.txt", "secret note");
    const paths = await judged(world, base);
    const { text } = await run("search", { path: base, pattern: "secret" }, { paths });
    expect(text).toContain("notes.txt");
    expect(text).toContain("outside/secret.txt");
    expect(text).not.toMatch(/plan|key/);
    expect(text).toContain("2 files may not be read here");
  });
});
