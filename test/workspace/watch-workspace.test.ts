import { writeFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createFolderWatcher,
  type FolderWatcherLimits,
} from "../../src/tools/workspace/watch/folder-watcher.ts";
import { watchWorkspace } from "../../src/tools/workspace/watch/watch-workspace.ts";
import { eventually } from "../support/eventually.ts";

interface World {
  readonly root: string;
  readonly changes: readonly string[];
  readonly problems: readonly string[];
  readonly outside: string;
  /** Resolves when the change of a marker file has been seen, and thus all earlier changes. */
  settle(): Promise<void>;
  end(): Promise<void>;
}

let markers = 0;

async function createWorld({
  paths = ["."],
  globs = [],
  needsMarker = true,
}: {
  readonly paths?: readonly string[];
  readonly globs?: readonly string[];
  /** If false, the watchers may start after this function. Default: true. */
  readonly needsMarker?: boolean;
}): Promise<World> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "spanline-watch-")));
  const root = join(folder, "work");
  const outside = join(folder, "outside");
  for (const path of ["work/src/deep", "work/node_modules/x", "work/data", "outside"])
    await mkdir(join(folder, path), { recursive: true });
  for (const name of ["a.ts", "b.ts", "c.ts"]) await writeFile(join(root, "src", name), "1");
  await symlink(outside, join(root, "link"));
  const seen: string[] = [];
  const problems: string[] = [];
  const controller = new AbortController();
  const watching = watchWorkspace(
    { paths, globs: globs.length === 0 ? [] : [...globs, "**/marker-*"] },
    { root, protectedFolders: [join(root, "data")] },
    {
      signal: controller.signal,
      onChange: ({ kind, relativePath }) => void seen.push(`${kind} ${relativePath}`),
      onProblem: (message) => void problems.push(message),
    },
  );
  watching.catch((error: unknown) => void problems.push(String(error)));
  const end = async (): Promise<void> => {
    controller.abort();
    await watching.catch(() => undefined);
  };
  onTestFinished(async () => {
    await end();
    await rm(folder, { recursive: true, force: true });
  });
  const isMarker = (change: string): boolean => change.includes("marker-");
  const settle = async (): Promise<void> => {
    const name = `marker-${(markers += 1)}`;
    await eventually(async () => {
      // Repeated: the first write may precede the watcher.
      await writeFile(join(root, "src", name), `${Math.random()}`);
      expect(seen.some((change) => change.includes(name)) || problems.length > 0).toBe(true);
    });
  };
  if (needsMarker) await settle();
  return {
    root,
    outside,
    get changes() {
      return seen.filter((change) => !isMarker(change));
    },
    problems,
    settle,
    end,
  };
}

describe("Watching a workspace", () => {
  it("Files which are created, modified, replaced and removed are reported, also in new folders", async () => {
    const world = await createWorld({});
    const { root } = world;
    await writeFile(join(root, "src/a.ts"), "22");
    await world.settle();
    await mkdir(join(root, "src/new/inner"), { recursive: true });
    await writeFile(join(root, "src/new/inner/b.ts"), "1");
    await eventually(() => expect(world.changes).toContain("create src/new/inner/b.ts"));
    await writeFile(join(root, "src/new/inner/b.ts"), "2");
    await eventually(() => expect(world.changes).toContain("modify src/new/inner/b.ts"));
    await writeFile(join(root, "temporary"), "3");
    await rename(join(root, "temporary"), join(root, "src/a.ts"));
    await rm(join(root, "src/new"), { recursive: true });
    await eventually(() => expect(world.changes).toContain("remove src/new"));
    await world.settle();
    const paths = new Set(world.changes.map((change) => change.slice(change.indexOf(" ") + 1)));
    expect([...paths].toSorted()).toEqual([
      "src/a.ts",
      "src/new",
      "src/new/inner",
      "src/new/inner/b.ts",
      "temporary",
    ]);
    expect(world.changes).toContain("modify src/a.ts");
    expect(world.problems).toEqual([]);
  });

  it("Protected files, dependencies, reserved names and targets of links are not reported", async () => {
    const world = await createWorld({});
    const { root, outside } = world;
    await writeFile(join(root, "data/sessions.db"), "1");
    await writeFile(join(root, "node_modules/x/index.js"), "1");
    await writeFile(join(root, "spanline.config.yaml"), "agents: {}");
    await writeFile(join(outside, "secret"), "1");
    await writeFile(join(root, "src/deep/c.ts"), "1");
    await eventually(() => expect(world.changes).toContain("create src/deep/c.ts"));
    await world.settle();
    expect(world.changes.filter((change) => !change.endsWith("src/deep/c.ts"))).toEqual([]);
  });

  it("Only paths which match a pattern are reported", async () => {
    const world = await createWorld({ globs: ["**/*.md"] });
    await writeFile(join(world.root, "src/x.ts"), "1");
    await writeFile(join(world.root, "src/x.md"), "1");
    await eventually(() => expect(world.changes.join()).toContain("src/x.md"));
    await world.settle();
    expect(world.changes.join()).not.toContain("x.ts");
  });

  it.each([
    ["a path outside", ["../outside"], "it leads outside the workspace"],
    ["a link to the outside", ["link"], "it leads outside the workspace"],
    ["a protected path", ["data"], "it leads to files reserved for Spanline"],
    ["a missing path", ["nowhere"], "it does not exist"],
  ])("Watching %s is refused", async (_, paths, problem) => {
    const { problems } = await createWorld({ paths });
    expect(problems.join()).toContain(problem);
  });

  it.each([
    ["several files of a folder", ["src/a.ts", "src/b.ts"], ["src/a.ts", "src/b.ts"]],
    ["a file and its folder", ["src/a.ts", "src"], ["src/a.ts", "src/b.ts", "src/c.ts"]],
    ["a folder and its file", ["src", "src/a.ts"], ["src/a.ts", "src/b.ts", "src/c.ts"]],
  ])("A subscription to %s reports exactly their changes", async (_, paths, expected) => {
    const world = await createWorld({ paths, needsMarker: false });
    await eventually(async () => {
      for (const name of ["a.ts", "b.ts", "c.ts"])
        await writeFile(join(world.root, "src", name), `${Math.random()}`);
      const changed = new Set(world.changes.map((change) => change.slice(change.indexOf(" ") + 1)));
      expect([...changed].toSorted()).toEqual(expected);
    });
  });

  it.each<readonly [name: string, remove: (folder: string) => Promise<void>]>([
    ["removed", (folder) => rm(folder, { recursive: true })],
    [
      "replaced",
      async (folder) => {
        await rename(folder, `${folder}-old`);
        await mkdir(folder);
      },
    ],
  ])("A watched folder which is %s is reported as no longer watched", async (_, remove) => {
    const world = await createWorld({ paths: ["src"] });
    await remove(join(world.root, "src"));
    await eventually(() =>
      expect(world.problems).toEqual([
        "src is no longer watched: it was removed. Fix: subscribe again",
      ]),
    );
  });

  it("A link to a parent folder is not followed", async () => {
    const world = await createWorld({ needsMarker: false });
    await symlink("..", join(world.root, "src/deep/loop"));
    await writeFile(join(world.root, "src/deep/c.ts"), "1");
    await world.settle();
    expect(world.changes.filter((change) => change.includes("loop/"))).toEqual([]);
    expect(world.changes.length).toBeLessThan(10);
  });

  it("An aborted subscription reports nothing more", async () => {
    const world = await createWorld({});
    await world.end();
    const before = world.changes.length;
    await writeFile(join(world.root, "src/late.ts"), "1");
    expect(world.changes.length).toBe(before);
  });
});

describe("Limits of the watchers of a subscription", () => {
  interface Watched {
    readonly root: string;
    readonly changes: string[];
    readonly problems: string[];
    readonly add: () => Promise<void>;
  }

  async function createLimited(limits: Partial<FolderWatcherLimits>): Promise<Watched> {
    const root = await realpath(await mkdtemp(join(tmpdir(), "spanline-watch-")));
    const changes: string[] = [];
    const problems: string[] = [];
    const watcher = createFolderWatcher({
      isProtected: () => false,
      onChange: (kind, path) => void changes.push(`${kind} ${basename(path)}`),
      onProblem: (message) => void problems.push(message),
      limits: { folders: 100, names: 1000, waiting: 1000, ...limits },
    });
    onTestFinished(async () => {
      watcher.close();
      await rm(root, { recursive: true, force: true });
    });
    return { root, changes, problems, add: () => watcher.add(root, "folder") };
  }

  it("Folders above the limit are not watched, and are reported", async () => {
    const { root, problems, add } = await createLimited({ folders: 5 });
    for (let at = 0; at < 20; at++) await mkdir(join(root, `d${at}`));
    await add();
    expect(new Set(problems)).toEqual(
      new Set(["Only 5 folders are watched: the limit is reached"]),
    );
  });

  it("A folder with more files than the limit is read up to the limit, and its changes are still reported", async () => {
    const { root, changes, problems, add } = await createLimited({ names: 50 });
    for (let at = 0; at < 60; at++) await writeFile(join(root, `f${at}`), "");
    await add();
    expect(problems).toEqual([`${basename(root)} has too many files: only 50 are watched`]);
    await writeFile(join(root, "late"), "1");
    await eventually(() => expect(changes).toContain("create late"));
  });

  it("A storm of changes has bounded notifications, and the missing ones are reported", async () => {
    const { root, changes, problems, add } = await createLimited({ waiting: 20 });
    await add();
    // Synchronous, so that all notifications arrive at once.
    for (let at = 0; at < 500; at++) writeFileSync(join(root, `f${at}`), "1");
    await eventually(() =>
      expect(problems).toContain("Too many changes at once: some are missing"),
    );
    expect(changes.length).toBeLessThan(1000);
  });
});
