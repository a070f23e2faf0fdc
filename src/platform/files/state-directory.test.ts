import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { cp, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { trustDirectory } from "./trusted-directory.ts";
import { resolveStateDirectory } from "./state-directory.ts";

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
    expect(resolveStateDirectory(env, deep)).toEqual({ directory: own, skippedDirectories: [] });
    const project = made();
    await trustDirectory(project, own);
    expect(resolveStateDirectory(env, deep)).toEqual({
      directory: project,
      skippedDirectories: [],
    });
    const given = { ...env, SPANLINE_DATA_DIR: "data" };
    expect(resolveStateDirectory(given, deep)).toEqual({
      directory: join(deep, "data"),
      skippedDirectories: [],
    });
  });

  it("is no .spanline that merely lies there, and says that it is not", async () => {
    const { deep, own, made, env } = place();
    const [project, planted] = [made(), made("a")];
    await trustDirectory(project, own);
    expect(resolveStateDirectory(env, deep)).toEqual({
      directory: project,
      skippedDirectories: [planted],
    });
  });

  it("is none that another user made, that was copied, or that took the place of the user's", async () => {
    const { root, deep, own, made, env } = place();
    const project = made();
    await trustDirectory(project, join(root, "another"));
    expect(resolveStateDirectory(env, deep)).toEqual({
      directory: own,
      skippedDirectories: [project],
    });
    await trustDirectory(project, own);
    const copy = join(root, "a/.spanline");
    await cp(project, copy, { recursive: true });
    expect(resolveStateDirectory(env, deep)).toEqual({
      directory: project,
      skippedDirectories: [copy],
    });
    await rename(project, join(root, "old"));
    mkdirSync(project);
    await trustDirectory(project, join(root, "another"));
    expect(resolveStateDirectory(env, deep)).toMatchObject({ directory: own });
  });

  it("is made the user's by any number of processes at once", async () => {
    const { deep, own, made, env } = place();
    const project = made();
    await Promise.all(Array.from({ length: 20 }, () => trustDirectory(project, own)));
    expect(resolveStateDirectory(env, deep)).toEqual({
      directory: project,
      skippedDirectories: [],
    });
  });
});
