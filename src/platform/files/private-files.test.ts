import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makeFolder } from "./private-files.ts";

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "spanline-folder-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

it("All missing levels of a folder are created for the user alone, even by concurrent calls", async () => {
  const folder = join(temporaryFolder(), "a", "b", "c");
  await Promise.all([makeFolder(folder), makeFolder(folder)]);
  await makeFolder(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

it.skipIf(process.platform !== "linux")("Creating a folder in /proc is rejected", async () => {
  await expect(makeFolder("/proc/x/y")).rejects.toMatchObject({ code: "ENOENT" });
});

it("A file or a dangling link in the path is rejected", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "");
  symlinkSync(join(folder, "nothing"), join(folder, "link"));
  await expect(makeFolder(join(folder, "file"))).rejects.toMatchObject({ code: "ENOTDIR" });
  await expect(makeFolder(join(folder, "file", "x"))).rejects.toMatchObject({ code: "ENOTDIR" });
  await expect(makeFolder(join(folder, "link"))).rejects.toMatchObject({ code: "EEXIST" });
});
