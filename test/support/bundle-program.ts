import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { onTestFinished } from "vitest";

const root = join(import.meta.dirname, "../..");

/** Bundles a program of `test/programs` as plain JavaScript, to run in a separate process. */
export async function bundleProgram(program: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "spanline-program-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return bundleInto(folder, program);
}

/** Bundles a program into a folder of the caller. */
export async function bundleInto(folder: string, program: string): Promise<string> {
  const bundle = await rolldown({
    input: join(root, "test/programs", program),
    platform: "node",
    external: [/^[^./]/],
    logLevel: "silent",
  });
  const file = join(folder, "program.mjs");
  await bundle.write({ file, format: "esm", codeSplitting: false });
  await bundle.close();
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  return file;
}
