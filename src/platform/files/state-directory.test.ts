import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { cp, rename } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { trustDirectory } from "./trusted-directory.ts";
import { resolveStateDirectory } from "./state-directory.ts";

/** A folder tree and the environment of a user who works in it. */
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

describe("State directory", () => {
  it("The configured directory is used first, then the nearest trusted .spanline, then the user's own directory", async () => {
    const { deep, own, made, env } = place();
    expect(resolveStateDirectory(env, deep)).toEqual({ directory: own, skippedDirectories: [] });
    const project = made();
    await trustDirectory(project, own);
    expect(resolveStateDirectory(env, deep)).toEqual({
      directory: project,
      skippedDirectories: [],
    });
    const environment = { ...env, SPANLINE_DATA_DIR: "data" };
    expect(resolveStateDirectory(environment, deep)).toEqual({
      directory: join(deep, "data"),
      skippedDirectories: [],
    });
  });

  it("An untrusted .spanline is skipped and reported", async () => {
    const { deep, own, made, env } = place();
    const [project, planted] = [made(), made("a")];
    await trustDirectory(project, own);
    expect(resolveStateDirectory(env, deep)).toEqual({
      directory: project,
      skippedDirectories: [planted],
    });
  });

  it("A .spanline created by another user, copied or replaced is not trusted", async () => {
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

  it("Concurrent processes can trust the same directory", async () => {
    const { deep, own, made, env } = place();
    const project = made();
    await Promise.all(Array.from({ length: 20 }, () => trustDirectory(project, own)));
    expect(resolveStateDirectory(env, deep)).toEqual({
      directory: project,
      skippedDirectories: [],
    });
  });
});
