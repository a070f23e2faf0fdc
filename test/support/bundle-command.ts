import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown } from "rolldown";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** The folder with the bundled command line, created once per test run. */
    readonly commandBundle: string;
  }
}

const root = join(import.meta.dirname, "../..");

/**
 * Global setup of Vitest: bundles the command line once for all test files that start it. The bundle has no portal, whose
 * build takes seconds: pages respond with 503. `test/browser` runs the built package with its portal.
 */
export async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), "spanline-bundle-"));
  await bundleSource(["cli/main.ts", "cli/command-line.ts"], folder);
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  project.provide("commandBundle", folder);
  return () => rmSync(folder, { recursive: true, force: true });
}

/** Bundles entries of `src` into a folder, each as `NAME.mjs`, with their chunks. */
export async function bundleSource(entries: readonly string[], folder: string): Promise<void> {
  const bundle = await rolldown({
    input: entries.map((entry) => join(root, "src", entry)),
    platform: "node",
    external: [/^[^./]/],
    logLevel: "silent",
  });
  await bundle.write({ dir: folder, entryFileNames: "[name].mjs", format: "esm" });
  await bundle.close();
}
