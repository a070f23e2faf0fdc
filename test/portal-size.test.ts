import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";

const root = join(import.meta.dirname, "..");

/** Bytes of the scripts and styles of the first view, compressed. */
const MAX_FIRST_VIEW = 200_000;

function measureFile(path: string): number {
  return gzipSync(readFileSync(path), { level: 9 }).length;
}

it("The scripts and styles of the portal's first view have at most 200 KB when compressed", () => {
  const folder = mkdtempSync(join(tmpdir(), "spanline-portal-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // A separate process: the tests' NODE_ENV would select React's build for development.
  const env = { ...process.env, BUNDLE_DIR: folder, NODE_ENV: "production" };
  execFileSync("npm", ["run", "--silent", "bundle:portal"], { cwd: root, env });
  const portal = join(folder, "portal");
  const page = readFileSync(join(portal, "index.html"), "utf8");
  const names = [...page.matchAll(/(?:src|href)="\/portal\/assets\/([^"]+)"/g)].map(
    ([, name = ""]) => name,
  );
  const loaded = names.filter((name) => /\.(?:js|css)$/.test(name));
  expect(loaded.length).toBeGreaterThanOrEqual(2);
  const bytes = loaded.reduce((sum, name) => sum + measureFile(join(portal, "assets", name)), 0);
  expect(bytes).toBeLessThanOrEqual(MAX_FIRST_VIEW);
  // Heavy parts are separate files, which the first view does not load.
  expect(readdirSync(join(portal, "assets")).length).toBeGreaterThan(names.length);
  expect(page).not.toMatch(/https?:\/\/|<style|style=|<script(?![^>]*src=)/);
});
