import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { allowLongTests } from "./support/test-depth.ts";

allowLongTests();

const root = join(import.meta.dirname, "..");

it("`npm ci` prints no engine warning on this version of Node", () => {
  const folder = mkdtempSync(join(tmpdir(), "spanline-install-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const file of ["package.json", "package-lock.json", ".npmrc"]) {
    cpSync(join(root, file), join(folder, file));
  }
  const args = ["ci", "--dry-run", "--offline"];
  const { status, stderr } = spawnSync("npm", args, { cwd: folder, encoding: "utf8" });
  expect([status, stderr.match(/EBADENGINE.*/g)]).toEqual([0, null]);
});

it("Every install script of a dependency is listed in allowScripts, so npm prints no warning", () => {
  const read = (file: string): unknown => JSON.parse(readFileSync(join(root, file), "utf8"));
  const { packages } = Object(read("package-lock.json"));
  const withScripts = Object.entries<object>(packages)
    .filter(([, facts]) => "hasInstallScript" in facts)
    .map(([path]) => path.split("node_modules/").at(-1));
  const { allowScripts } = Object(read("package.json"));
  expect(new Set(withScripts)).toEqual(new Set(Object.keys(allowScripts)));
});
