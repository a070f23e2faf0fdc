import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createProtectedPaths } from "../paths/protected-paths.ts";
import { openSubfolder, type Anchor, type Folder } from "./folder.ts";
import { openFile } from "./open-file.ts";

/** An open workspace folder next to a protected folder. */
async function openedFolder(anchor?: Anchor) {
  const root = mkdtempSync(join(tmpdir(), "spanline-open-file-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const name of ["data", "workspace/folder", "elsewhere"]) {
    mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, name, "file.txt"), name);
  }
  const places = await createProtectedPaths([join(root, "data")]);
  const options = { places, ...(anchor !== undefined && { anchor }) };
  const folder = await openSubfolder(join(root, "workspace"), ["folder"], options);
  onTestFinished(() => folder.close());
  const at = (...names: readonly string[]): string => join(root, ...names);
  return { folder, places, at };
}

describe("Opening a file", () => {
  it("A hard link to a protected file is refused after it was opened, whatever its name is", async () => {
    const { folder, places, at } = await openedFolder();
    linkSync(at("data", "file.txt"), at("workspace", "folder", "innocent.txt"));
    await expect(openFile(folder, "innocent.txt", places)).rejects.toMatchObject({
      details: { reason: "protected" },
    });
    const opened = await openFile(folder, "file.txt", places);
    expect(await opened?.handle.readFile("utf8")).toBe("workspace/folder");
    await opened?.handle.close();
  });

  it.each<[string, (path: string) => void]>([
    ["folder", (path) => mkdirSync(path)],
    ["pipe", (path) => void execFileSync("mkfifo", [path])],
  ])("A file that becomes a %s between the check and the open is refused", async (_, replace) => {
    const { folder, places, at } = await openedFolder();
    let calls = 0;
    const replaced: Folder = {
      ...folder,
      resolve(name) {
        calls += 1;
        // The first call is for the check, the second for the open.
        if (calls === 2) {
          rmSync(at("workspace", "folder", name));
          replace(at("workspace", "folder", name));
        }
        return folder.resolve(name);
      },
    };
    await expect(openFile(replaced, "file.txt", places)).rejects.toMatchObject({
      details: { reason: "not_a_file" },
    });
    expect(calls).toBe(2);
  });

  it("A file is refused if its folder was replaced before it was opened by path", async () => {
    const { folder, places, at } = await openedFolder("path");
    renameSync(at("workspace", "folder"), at("workspace", "moved"));
    renameSync(at("elsewhere"), at("workspace", "folder"));
    await expect(openFile(folder, "file.txt", places)).rejects.toMatchObject({
      details: { reason: "moved" },
    });
  });
});
