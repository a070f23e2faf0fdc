import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
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
}: {
  readonly paths?: readonly string[];
  readonly globs?: readonly string[];
}): Promise<World> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "spanline-watch-")));
  const root = join(folder, "work");
  const outside = join(folder, "outside");
  for (const path of ["work/src/deep", "work/node_modules/x", "work/data", "outside"])
    await mkdir(join(folder, path), { recursive: true });
  await writeFile(join(root, "src/a.ts"), "1");
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
  await settle();
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

  it("An aborted subscription reports nothing more", async () => {
    const world = await createWorld({});
    await world.end();
    const before = world.changes.length;
    await writeFile(join(world.root, "src/late.ts"), "1");
    expect(world.changes.length).toBe(before);
  });
});
