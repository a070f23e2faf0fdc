import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { cp, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { knowDirectory } from "./known-directory.ts";
import { stateDirectory } from "./state-directory.ts";

/** A folder with folders in it, and the environment of somebody who works there. */
function place() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "spanline-state-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const deep = join(root, "a/b");
  mkdirSync(deep, { recursive: true });
  const own = join(root, "state/spanline");
  const made = (...names: readonly string[]): string => {
    const folder = join(root, ...names, ".spanline");
    mkdirSync(folder);
    return folder;
  };
  return { root, deep, own, made, env: { XDG_STATE_HOME: join(root, "state") } };
}

describe("the state directory", () => {
  it("is the one that was given, else the nearest .spanline that is the user's, else the user's own", async () => {
    const { deep, own, made, env } = place();
    expect(stateDirectory(env, deep)).toEqual({ directory: own, passedOver: [] });
    const project = made();
    await knowDirectory(project, own);
    expect(stateDirectory(env, deep)).toEqual({ directory: project, passedOver: [] });
    const given = { ...env, SPANLINE_DATA_DIR: "data" };
    expect(stateDirectory(given, deep)).toEqual({ directory: join(deep, "data"), passedOver: [] });
  });

  it("is no .spanline that merely lies there, and says that it is not", async () => {
    const { deep, own, made, env } = place();
    const [project, planted] = [made(), made("a")];
    await knowDirectory(project, own);
    expect(stateDirectory(env, deep)).toEqual({ directory: project, passedOver: [planted] });
  });

  it("is none that another user made, that was copied, or that took the place of the user's", async () => {
    const { root, deep, own, made, env } = place();
    const project = made();
    await knowDirectory(project, join(root, "another"));
    expect(stateDirectory(env, deep)).toEqual({ directory: own, passedOver: [project] });
    await knowDirectory(project, own);
    const copy = join(root, "a/.spanline");
    await cp(project, copy, { recursive: true });
    expect(stateDirectory(env, deep)).toEqual({ directory: project, passedOver: [copy] });
    await rename(project, join(root, "old"));
    mkdirSync(project);
    await knowDirectory(project, join(root, "another"));
    expect(stateDirectory(env, deep)).toMatchObject({ directory: own });
  });

  it("is made the user's by any number of processes at once", async () => {
    const { deep, own, made, env } = place();
    const project = made();
    await Promise.all(Array.from({ length: 20 }, () => knowDirectory(project, own)));
    expect(stateDirectory(env, deep)).toEqual({ directory: project, passedOver: [] });
  });
});
