import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, onTestFinished, vi } from "vitest";
import { bundleInto } from "./support/bundle-program.ts";
import { allowLongTests } from "./support/test-depth.ts";

allowLongTests();

const folder = mkdtempSync(join(tmpdir(), "spanline-program-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const script = await bundleInto(folder, "../../scripts/build.ts");

/** Writes an entry that loads its only chunk on demand; the chunk's name contains its content. */
const BUNDLE = `
  const { appendFileSync, mkdirSync, readFileSync, writeFileSync } = require("node:fs");
  const text = readFileSync("src/a.ts", "utf8");
  mkdirSync(process.env.BUNDLE_DIR + "/chunks", { recursive: true });
  writeFileSync(process.env.BUNDLE_DIR + "/chunks/lazy-" + text + ".js", "console.log('chunk " + text + "')");
  writeFileSync(process.env.BUNDLE_DIR + "/app.js", "process.stdin.once('data', () => import('./chunks/lazy-" + text + ".js')); console.log('entry " + text + "')");
  appendFileSync("builds", "built\\n");
`;

/** A small project with a real source, a real bundle and a count of its builds. */
function project(bundle = "node bundle.cjs") {
  const root = mkdtempSync(join(tmpdir(), "spanline-build-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 10 }));
  const file = (name: string): string => join(root, name);
  mkdirSync(file("src"));
  writeFileSync(file("src/a.ts"), "1");
  writeFileSync(file("bundle.cjs"), BUNDLE);
  writeFileSync(file("package.json"), JSON.stringify({ type: "module", scripts: { bundle } }));
  return {
    file,
    build: (...options: readonly string[]) =>
      spawnSync(process.execPath, [script, ...options], { cwd: root, encoding: "utf8" }),
    /** Starts a process in the project; its whole output is collected. */
    start: (...args: readonly string[]) => collect(spawn(process.execPath, args, { cwd: root })),
    builds: () => readFileSync(file("builds"), "utf8").trim().split("\n").length,
    chunks: () => readdirSync(file("dist/chunks")).sort(),
  };
}

function collect(child: ChildProcess) {
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  child.stdout?.on("data", (chunk) => (output += chunk));
  child.stderr?.on("data", (chunk) => (output += chunk));
  return {
    child,
    exited: once(child, "exit"),
    printed: (text: string) =>
      vi.waitFor(() => expect(output).toContain(text), { timeout: 10_000, interval: 5 }),
  };
}

it("`build --if-changed` builds once, and not again if nothing has changed", () => {
  const { build, builds } = project();
  expect(build("--if-changed").stderr).toBe("Building Spanline from its sources …\n");
  const again = build("--if-changed");
  expect([again.status, again.stderr, again.stdout, builds()]).toEqual([0, "", "", 1]);
});

it("`build` without an option always builds", () => {
  const { build, builds } = project();
  expect([build().stderr, build().stderr, builds()]).toEqual(["", "", 2]);
});

it("A changed source and a damaged build are built again", () => {
  const { file, build, builds } = project();
  build("--if-changed");
  const changes = [
    // The same size and an older time: an unpacked or restored file.
    () => utimesSync(file("src/a.ts"), 1, 1),
    () => writeFileSync(file("src/b.ts"), ""),
    () => rmSync(file("src/b.ts")),
    () => writeFileSync(file("package-lock.json"), "{}"),
    () => rmSync(file("dist/chunks/lazy-1.js")),
    () => writeFileSync(file("dist/app.js"), "damaged"),
    () => rmSync(file("dist"), { recursive: true }),
  ];
  for (const [index, change] of changes.entries()) {
    change();
    build("--if-changed");
    expect(builds()).toBe(index + 2);
  }
  build("--if-changed");
  expect(builds()).toBe(changes.length + 1);
  expect(readFileSync(file("dist/app.js"), "utf8")).toContain("entry 1");
});

it("Two concurrent builds share one build, and the second waits for its end", async () => {
  // The loop also ends if the test removes the folder.
  const wait = "while test -e begun && ! test -e go; do sleep 0.05; done";
  const { file, start, builds } = project(`touch begun && ${wait} && node bundle.cjs`);
  const first = start(script, "--if-changed");
  await vi.waitFor(() => expect(existsSync(file("begun"))).toBe(true), 10_000);
  const second = start(script, "--if-changed");
  await second.printed("Waiting for another build of Spanline …");
  expect([second.child.exitCode, existsSync(file("dist"))]).toEqual([null, false]);
  writeFileSync(file("go"), "");
  expect(await Promise.all([first.exited, second.exited])).toEqual([
    [0, null],
    [0, null],
  ]);
  expect(builds()).toBe(1);
});

it("A killed build leaves the previous build unchanged and does not block a later build", async () => {
  const { file, build, start } = project(
    "touch begun && while test -e slow; do sleep 0.05; done && node bundle.cjs",
  );
  build();
  const before = readFileSync(file("dist/app.js"), "utf8");
  rmSync(file("begun"));
  writeFileSync(file("slow"), "");
  writeFileSync(file("src/a.ts"), "2");
  const killed = start(script, "--if-changed");
  await vi.waitFor(() => expect(existsSync(file("begun"))).toBe(true), 10_000);
  killed.child.kill("SIGKILL");
  await killed.exited;
  expect(readFileSync(file("dist/app.js"), "utf8")).toBe(before);
  rmSync(file("slow"));
  expect(build("--if-changed").status).toBe(0);
  expect(readFileSync(file("dist/app.js"), "utf8")).toContain("entry 2");
});

it("A process started from an earlier build loads its chunks after a rebuild", async () => {
  const { file, build, start } = project();
  build();
  const running = start("dist/app.js");
  await running.printed("entry 1");
  writeFileSync(file("src/a.ts"), "2");
  build("--if-changed");
  expect(readFileSync(file("dist/app.js"), "utf8")).toContain("entry 2");
  running.child.stdin?.end("\n");
  await running.printed("chunk 1");
  expect(await running.exited).toEqual([0, null]);
});

it("Chunks are installed before the entries that load them", () => {
  const { file, build, chunks } = project();
  // A folder in the entry's place stops the installation there.
  mkdirSync(file("dist/app.js"), { recursive: true });
  expect([build().status, chunks()]).toEqual([1, ["lazy-1.js"]]);
  rmSync(file("dist/app.js"), { recursive: true });
  expect(build("--if-changed").status).toBe(0);
  expect(readFileSync(file("dist/app.js"), "utf8")).toContain("entry 1");
});

it("Chunks of earlier builds are removed by `--clean`, and beyond 100 MB the oldest first", () => {
  const { file, build, chunks } = project();
  build();
  for (const [name, seconds] of [
    ["older.js", 1],
    ["newer.js", 2],
  ] as const) {
    writeFileSync(file(`dist/chunks/${name}`), "");
    truncateSync(file(`dist/chunks/${name}`), 60 * 1024 * 1024);
    utimesSync(file(`dist/chunks/${name}`), seconds, seconds);
  }
  writeFileSync(file("dist/removed-entry.js"), "");
  writeFileSync(file("src/a.ts"), "2");
  build();
  expect(chunks()).toEqual(["lazy-1.js", "lazy-2.js", "newer.js"]);
  expect(existsSync(file("dist/removed-entry.js"))).toBe(false);
  build("--clean");
  expect(chunks()).toEqual(["lazy-2.js"]);
});

it("A failed build exits with its status, keeps the previous build and is retried", () => {
  const { file, build } = project("test ! -e broken && node bundle.cjs || exit 3");
  build();
  writeFileSync(file("broken"), "");
  writeFileSync(file("src/a.ts"), "2");
  expect([build("--if-changed").status, build("--if-changed").status]).toEqual([3, 3]);
  expect(readFileSync(file("dist/app.js"), "utf8")).toContain("entry 1");
});
