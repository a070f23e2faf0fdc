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

it("makes every level that is missing, also twice at once, for its user alone", async () => {
  const folder = join(temporaryFolder(), "a", "b", "c");
  await Promise.all([makeFolder(folder), makeFolder(folder)]);
  await makeFolder(folder);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
});

it.skipIf(process.platform !== "linux")("gives up where the system lets nothing be", async () => {
  await expect(makeFolder("/proc/x/y")).rejects.toMatchObject({ code: "ENOENT" });
});

it("rejects what a file or a link to nowhere stands in the way of", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "");
  symlinkSync(join(folder, "nothing"), join(folder, "link"));
  await expect(makeFolder(join(folder, "file"))).rejects.toMatchObject({ code: "ENOTDIR" });
  await expect(makeFolder(join(folder, "file", "x"))).rejects.toMatchObject({ code: "ENOTDIR" });
  await expect(makeFolder(join(folder, "link"))).rejects.toMatchObject({ code: "EEXIST" });
});
