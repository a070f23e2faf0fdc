import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { stateDirectory } from "./state-directory.ts";

describe("the state directory", () => {
  it("is the one that was given, else the nearest .spanline, else the user's", () => {
    const root = mkdtempSync(join(tmpdir(), "spanline-state-"));
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const deep = join(root, "a/b");
    mkdirSync(deep, { recursive: true });
    const env = { XDG_STATE_HOME: "/state" };
    expect(stateDirectory(env, deep)).toBe("/state/spanline");
    mkdirSync(join(root, ".spanline"));
    expect(stateDirectory(env, deep)).toBe(join(root, ".spanline"));
    expect(stateDirectory({ ...env, SPANLINE_DATA_DIR: "data" }, deep)).toBe(join(deep, "data"));
  });
});
