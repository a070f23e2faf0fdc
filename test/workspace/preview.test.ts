import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { linkSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/data/json.ts";
import { previewEdit } from "../../src/tools/workspace/preview-edit.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/session/test-workspace.ts";

const sha256 = (content: string): string => createHash("sha256").update(content).digest("hex");

const preview = ({ root, data }: TestWorkspace, tool: string, input: JsonObject) =>
  previewEdit({ name: tool, input }, { root, protectedFolders: [data] });

describe("Previews of edits", () => {
  it("A preview has the whole text before and after, and the file [R-025]", async () => {
    const world = createTestWorkspace();
    world.write("src/a.ts", "one\ntwo\n");
    const input = { path: "src/../src/a.ts", old_text: "two", new_text: "2" };
    expect(await preview(world, "edit_file", input)).toEqual({
      diffs: [{ path: "src/a.ts", oldText: "one\ntwo\n", newText: "one\n2\n" }],
      evidence: [
        {
          path: "src/a.ts",
          source: "edit_file",
          preimageSha256: sha256("one\ntwo\n"),
          byteCount: 8,
        },
      ],
    });
  });

  it("A preview equals the change that the tool makes", async () => {
    const world = createTestWorkspace();
    world.write("a", "\ufeffone\r\ntwo\r\n");
    const input = { path: "a", old_text: "one\ntwo", new_text: "1\n2" };
    const { diffs } = await preview(world, "edit_file", input);
    expect((await world.run("edit_file", input)).diffs).toEqual(diffs);
  });

  it("A preview of a new file has no old text and creates nothing", async () => {
    const world = createTestWorkspace();
    const input = { path: "new/a", content: "text" };
    expect(await preview(world, "write_file", input)).toEqual({
      diffs: [{ path: "new/a", oldText: null, newText: "text" }],
      evidence: [{ path: "new/a", source: "write_file", preimageSha256: null, byteCount: 0 }],
    });
    expect(readdirSync(world.root)).toEqual([".spanline"]);
  });

  it("A preview of a tool that edits nothing is empty", async () => {
    const world = createTestWorkspace();
    for (const tool of ["read_file", "run_command", "__proto__"]) {
      expect(await preview(world, tool, { path: "a" })).toEqual({ diffs: [], evidence: [] });
    }
  });

  it("A preview that cannot be made has a reason [R-025]", async () => {
    const world = createTestWorkspace();
    const { root, data, outside, write } = world;
    write("text", "text");
    write("latin", Buffer.from("caf\xe9", "latin1"));
    write("large", "x".repeat(1024 * 1024 + 1));
    mkdirSync(join(root, "folder"));
    spawnSync("mkfifo", [join(root, "pipe")]);
    symlinkSync("text", join(root, "link"));
    symlinkSync("folder", join(root, "linked"));
    symlinkSync(outside, join(root, "out"));
    linkSync(join(data, "log.db"), join(root, "hard"));
    const reasonOf = async (path: string, rest: JsonObject = { content: "x" }) => {
      const tool = "content" in rest ? "write_file" : "edit_file";
      const { diffs, evidence } = await preview(world, tool, { path, ...rest });
      expect(diffs).toEqual([]);
      expect(evidence).toMatchObject([{ path, source: tool, message: expect.any(String) }]);
      return evidence[0]?.reason;
    };
    expect(await reasonOf("link")).toBe("symlink");
    expect(await reasonOf("linked/new")).toBe("symlink");
    expect(await reasonOf("out/new")).toBe("outside");
    expect(await reasonOf("../outside/new")).toBe("outside");
    expect(await reasonOf(".spanline/log.db")).toBe("protected");
    expect(await reasonOf("hard")).toBe("protected");
    expect(await reasonOf("a\0b")).toBe("invalid");
    expect(await reasonOf("latin")).toBe("not_utf8");
    expect(await reasonOf("large")).toBe("too_large");
    expect(await reasonOf("text", { content: "x".repeat(1024 * 1024 + 1) })).toBe("too_large");
    expect(await reasonOf("folder")).toBe("unreadable");
    expect(await reasonOf("pipe")).toBe("unreadable");
    expect(await reasonOf("gone", { old_text: "a", new_text: "b" })).toBe("does_not_apply");
    expect(await reasonOf("text", { old_text: "a", new_text: "b" })).toBe("does_not_apply");
    const expected_sha256 = sha256("other");
    expect(await reasonOf("text", { content: "x", expected_sha256 })).toBe("does_not_apply");
  });

  it("A preview resolves a workspace behind a link", async () => {
    const { root, data, base, write } = createTestWorkspace();
    write("a", "old");
    symlinkSync(root, join(base, "project"));
    const surroundings = { root: join(base, "project"), protectedFolders: [data] };
    for (const path of ["a", join(base, "project/a"), join(root, "a")]) {
      const { diffs } = await previewEdit(
        { name: "write_file", input: { path, content: "new" } },
        surroundings,
      );
      expect(diffs).toEqual([{ path: "a", oldText: "old", newText: "new" }]);
    }
  });
});
