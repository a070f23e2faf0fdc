// Builds dist before `npm start`, unless it is what the last build made of the same files. In doubt it builds.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** `npm ci` writes the last one. */
const INPUTS = [
  "src",
  "package.json",
  "package-lock.json",
  "rolldown.config.ts",
  "tsconfig.json",
  "tsconfig.build.json",
  "node_modules/.package-lock.json",
];
const OUTPUTS = ["dist"];
const STAMP = ".build/dist.json";

const inputs = digestOf(INPUTS);
if (readStamp() !== stampOf(inputs)) {
  process.stderr.write("Building Spanline from its sources …\n");
  rmSync(STAMP, { force: true });
  const { status } = spawnSync("npm run --silent build", { stdio: "inherit", shell: true });
  if (status !== 0) process.exit(status ?? 1);
  mkdirSync(dirname(STAMP), { recursive: true });
  // What was changed while it was built is not in it: the files count as they were before.
  writeFileSync(STAMP, stampOf(inputs));
}

function stampOf(before: string): string {
  return JSON.stringify({ inputs: before, outputs: digestOf(OUTPUTS) });
}

function readStamp(): string | undefined {
  try {
    return readFileSync(STAMP, "utf8");
  } catch {
    return undefined;
  }
}

/** Which files there are, how long they are and when they were written. */
function digestOf(paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths.flatMap(filesAt)) {
    const { size, mtimeMs } = statSync(path);
    hash.update(`${JSON.stringify(path)} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex");
}

function filesAt(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesAt(join(path, name)));
}
