import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, onTestFinished } from "vitest";
import { bundleInto } from "./support/bundled.ts";

const folder = mkdtempSync(join(tmpdir(), "spanline-program-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const script = await bundleInto(folder, "../../scripts/build-if-changed.ts");

/** A project whose build says that it ran, and copies its source. */
function project(build = "mkdir -p dist && cp src/a.ts dist/a.js && echo built >> builds") {
  const root = mkdtempSync(join(tmpdir(), "spanline-build-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "src"));
  writeFileSync(join(root, "src/a.ts"), "1");
  writeFileSync(join(root, "package.json"), JSON.stringify({ scripts: { build } }));
  const start = () => spawnSync(process.execPath, [script], { cwd: root, encoding: "utf8" });
  const builds = () => readFileSync(join(root, "builds"), "utf8").trim().split("\n").length;
  return { root, start, builds };
}

it("builds once and says so, and not again where nothing changed", () => {
  const { start, builds } = project();
  expect(start().stderr).toContain("Building Spanline from its sources");
  const again = start();
  expect([again.status, again.stderr, again.stdout, builds()]).toEqual([0, "", "", 1]);
});

it("builds again where a source was written, added or removed, and where a built file is not as it was", () => {
  const { root, start, builds } = project();
  start();
  const changes = [
    // As long as before, and older: what was unpacked or put back.
    () => utimesSync(join(root, "src/a.ts"), 1, 1),
    () => writeFileSync(join(root, "src/b.ts"), ""),
    () => rmSync(join(root, "src/b.ts")),
    () => writeFileSync(join(root, "package-lock.json"), "{}"),
    () => rmSync(join(root, "dist/a.js")),
    () => writeFileSync(join(root, "dist/a.js"), "another build's"),
  ];
  for (const [index, change] of changes.entries()) {
    change();
    start();
    expect(builds()).toBe(index + 2);
  }
  start();
  expect(builds()).toBe(changes.length + 1);
});

it("ends as a build that fails does, and tries again", () => {
  const { start } = project("exit 3");
  expect([start().status, start().status]).toEqual([3, 3]);
});
