import { describe, expect, it } from "vitest";
import { resolveTrueName, type NameLookup } from "./examine-paths.ts";

/** A case-insensitive file system. */
function caseless(paths: readonly string[]): NameLookup {
  const byLetters = new Map(paths.map((path) => [path.toLowerCase(), path]));
  return {
    readIdentity: async (path) => byLetters.get(path.toLowerCase()),
    listNames: async (folder) =>
      paths
        .filter(
          (path) => path.startsWith(`${folder}/`) && !path.slice(folder.length + 1).includes("/"),
        )
        .map((path) => path.slice(folder.length + 1)),
  };
}

describe("The true name of a path", () => {
  const names = caseless(["/work/Src", "/work/Src/Main.ts", "/work/1"]);

  it("On a case-insensitive file system the name on the disk is used [W-04]", async () => {
    expect(await resolveTrueName("/work/SRC/main.TS", "/work", names)).toBe("/work/Src/Main.ts");
    expect(await resolveTrueName("/work/src/new.ts", "/work", names)).toBe("/work/Src/new.ts");
    expect(await resolveTrueName("/work/1", "/work", names)).toBe("/work/1");
    expect(await resolveTrueName("/work", "/work", names)).toBe("/work");
  });

  it("On a case-sensitive file system the written name is kept, even if two names are one file", async () => {
    const linked: NameLookup = {
      readIdentity: async (path) => (/^\/work\/readme$/i.test(path) ? "1:1" : undefined),
      listNames: async () => ["README", "readme"],
    };
    expect(await resolveTrueName("/work/README", "/work", linked)).toBe("/work/README");
    expect(await resolveTrueName("/work/readme", "/work", linked)).toBe("/work/readme");
  });
});
