import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { hasCommand } from "./is-program.ts";

const folder = mkdtempSync(join(tmpdir(), "spanline-command-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(join(folder, "program"), "");
chmodSync(join(folder, "program"), 0o755);
writeFileSync(join(folder, "text"), "", { mode: 0o644 });
mkdirSync(join(folder, "folder"));

it.each([
  ["program", folder, true],
  ["program", `/nowhere:${folder}`, true],
  ["program", "/nowhere", false],
  ["program", "", true],
  ["./program", "/nowhere", true],
  [join(folder, "program"), "", true],
  ["./none", folder, false],
  ["text", folder, false],
  ["folder", folder, false],
])("hasCommand finds %s with PATH %s: %s", async (command, path, isThere) => {
  expect(await hasCommand(command, folder, path)).toBe(isThere);
});
