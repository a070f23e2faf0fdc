// Builds dist. Under a lock, `npm run bundle` writes a whole build into a temporary folder; its files are then renamed
// into dist.
//   --if-changed  builds only if a source or a built file has changed since the last build
//   --clean       also removes the chunks of earlier builds
//
// A bridge started from an earlier build keeps running and loads some chunks later, so chunks of earlier builds stay
// for a while. Their names contain a hash of their content, and no chunk loads an entry. Chunks are renamed before
// entries, so a process starting in the meantime finds every chunk of its entry.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { acquireOwnerLock, type OwnerLock } from "../src/store/sqlite/file/owner-lock.ts";

/** Files and folders the build depends on. `npm ci` writes the last file. */
const INPUTS = [
  "src",
  "package.json",
  "package-lock.json",
  "rolldown.config.ts",
  "rolldown.types.config.ts",
  "vite.portal.config.ts",
  "tsconfig.json",
  "tsconfig.build.json",
  "node_modules/.package-lock.json",
];
/**
 * A folder of this process alone: the bundler of a killed build may still be writing into its own. The folder has the
 * same depth as dist, because source maps contain relative paths.
 */
const BUNDLE = `.dist-${process.pid}`;
const DIST = "dist";
const CHUNKS = join(DIST, "chunks");
const STAMP = ".build/dist.txt";
const LOCK = ".build/build.lock";

/** A build has 8 MB of chunks, so a bridge outlives at least ten builds. */
const MAX_EARLIER_CHUNK_BYTES = 100 * 1024 * 1024;

const options = new Set(process.argv);
mkdirSync(dirname(LOCK), { recursive: true });
const lock = await takeLock();
process.exitCode = build(options);
lock.release();

/** The kernel releases the lock when its process dies, so a killed build does not block later builds. */
async function takeLock(): Promise<OwnerLock> {
  for (let isFirst = true; ; isFirst = false) {
    const acquired = await acquireOwnerLock(LOCK);
    if (acquired !== undefined) return acquired;
    if (isFirst) process.stderr.write("Waiting for another build of Spanline …\n");
    await pause(100);
  }
}

function build(options: ReadonlySet<string>): number {
  // Files changed during the build are not part of it: their state before the build counts.
  const inputs = digestInputs(INPUTS.flatMap(listFiles));
  if (options.has("--if-changed")) {
    if (isCurrent(inputs)) return 0;
    process.stderr.write("Building Spanline from its sources …\n");
  }
  const env = { ...process.env, BUNDLE_DIR: BUNDLE };
  const { status } = spawnSync("npm run --silent bundle", { stdio: "inherit", shell: true, env });
  if (status !== 0) return status ?? 1;
  rmSync(STAMP, { force: true });
  const files = installBundle();
  removeEarlierFiles(files, options.has("--clean") ? 0 : MAX_EARLIER_CHUNK_BYTES);
  writeStamp(inputs, files);
  return 0;
}

/** True if the last build was made from these inputs and none of its files was changed or removed since. */
function isCurrent(inputs: string): boolean {
  const [builtFrom, ...files] = readStamp();
  return builtFrom === inputs && files.every((line) => line === describeFile(readPath(line)));
}

/** The digest of the inputs, then one line per built file; empty after a build that did not finish. */
function readStamp(): readonly string[] {
  try {
    return readFileSync(STAMP, "utf8").split("\n");
  } catch {
    return [];
  }
}

function writeStamp(inputs: string, files: readonly string[]): void {
  writeFileSync(`${STAMP}.new`, [inputs, ...files.map(describeFile)].join("\n"));
  renameSync(`${STAMP}.new`, STAMP);
}

/**
 * Renames the bundle's files into dist. Removes the temporary folders, also of killed builds. Returns the paths of the
 * installed files.
 */
function installBundle(): readonly string[] {
  const files = listFiles(BUNDLE).map((path) => join(DIST, relative(BUNDLE, path)));
  const chunksFirst = files.toSorted((a, b) => Number(isChunk(b)) - Number(isChunk(a)));
  for (const file of chunksFirst) {
    mkdirSync(dirname(file), { recursive: true });
    renameSync(join(BUNDLE, relative(DIST, file)), file);
  }
  for (const name of readdirSync(".")) {
    if (/^\.dist-\d+(?:-types)?$/.test(name)) rmSync(name, { recursive: true, force: true });
  }
  return files;
}

/** Removes files of earlier builds, except for their newest chunks. */
function removeEarlierFiles(files: readonly string[], chunkBytes: number): void {
  const current = new Set(files);
  const earlier = listFiles(DIST)
    .filter((path) => !current.has(path))
    .map((path) => ({ path, stats: statSync(path) }))
    .sort((a, b) => b.stats.mtimeMs - a.stats.mtimeMs);
  let bytes = 0;
  for (const { path, stats } of earlier) {
    if (isChunk(path)) bytes += stats.size;
    if (!isChunk(path) || bytes > chunkBytes) rmSync(path);
  }
}

function isChunk(path: string): boolean {
  return dirname(path) === CHUNKS;
}

function digestInputs(paths: readonly string[]): string {
  return createHash("sha256").update(paths.map(describeFile).join("\n")).digest("hex");
}

/** Returns a text that changes with the path, length or modification time of a file. */
function describeFile(path: string): string {
  const { size, mtimeMs } = statSync(path, { throwIfNoEntry: false }) ?? { size: -1, mtimeMs: 0 };
  return `${size} ${mtimeMs} ${path}`;
}

function readPath(description: string): string {
  return description.split(" ").slice(2).join(" ");
}

function listFiles(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (!stats.isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => listFiles(join(path, name)));
}
