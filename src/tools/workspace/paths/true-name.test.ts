import { describe, expect, it } from "vitest";
import { trueName, type Names } from "./true-name.ts";

/** A file system that takes upper and lower case for the same. */
function caseless(paths: readonly string[]): Names {
  const byLetters = new Map(paths.map((path) => [path.toLowerCase(), path]));
  return {
    identity: async (path) => byLetters.get(path.toLowerCase()),
    list: async (folder) =>
      paths
        .filter(
          (path) => path.startsWith(`${folder}/`) && !path.slice(folder.length + 1).includes("/"),
        )
        .map((path) => path.slice(folder.length + 1)),
  };
}

describe("the true name of a path", () => {
  const names = caseless(["/work/Src", "/work/Src/Main.ts", "/work/1"]);

  it("is the one on the disk, where letters are not told apart [W-04]", async () => {
    expect(await trueName("/work/SRC/main.TS", "/work", names)).toBe("/work/Src/Main.ts");
    expect(await trueName("/work/src/new.ts", "/work", names)).toBe("/work/Src/new.ts");
    expect(await trueName("/work/1", "/work", names)).toBe("/work/1");
    expect(await trueName("/work", "/work", names)).toBe("/work");
  });

  it("is the given one where they are, also when two names are one file", async () => {
    const linked: Names = {
      identity: async (path) => (/^\/work\/readme$/i.test(path) ? "1:1" : undefined),
      list: async () => ["README", "readme"],
    };
    expect(await trueName("/work/README", "/work", linked)).toBe("/work/README");
    expect(await trueName("/work/readme", "/work", linked)).toBe("/work/readme");
  });
});
