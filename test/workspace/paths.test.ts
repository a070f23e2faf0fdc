import { linkSync, mkdirSync, realpathSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { PathFact } from "../../src/domain/policy/policy-decision.ts";
import { examinePaths } from "../../src/tools/workspace/paths/examine-paths.ts";
import {
  createTestWorkspace,
  createTemporaryFolder,
  type TestWorkspace,
} from "../support/session/test-workspace.ts";

async function factOf(world: TestWorkspace, input: string): Promise<PathFact> {
  const surroundings = { root: world.root, protectedFolders: [world.data] };
  const [fact] = await examinePaths([{ argument: "path", input }], surroundings);
  if (fact === undefined) throw new Error("The path fact is missing");
  return fact;
}

const placeOf = async (world: TestWorkspace, input: string) => {
  const { location, workspacePath } = await factOf(world, input);
  return [location, workspacePath];
};

describe("Paths inside the workspace", () => {
  it("Every spelling of a path resolves to one name [W-04]", async () => {
    const world = createTestWorkspace();
    world.write("src/a.ts", "");
    const ways = ["src/a.ts", "./src//a.ts", "src/../src/a.ts", join(world.root, "src/a.ts")];
    for (const way of ways) expect(await placeOf(world, way)).toEqual(["inside", "src/a.ts"]);
    expect(await placeOf(world, ".")).toEqual(["inside", "."]);
    expect(await placeOf(world, "src/..")).toEqual(["inside", "."]);
  });

  it("Path facts are complete and in the order of the inputs", async () => {
    const { root, outside, data, write } = createTestWorkspace();
    write("a", "");
    const inputs = [
      { argument: "paths[0]", input: "a" },
      { argument: "paths[1]", input: "../outside/secret.txt" },
      { argument: "paths[2]", input: ".spanline" },
      { argument: "paths[3]", input: "" },
    ];
    expect(await examinePaths(inputs, { root, protectedFolders: [data] })).toEqual([
      {
        argument: "paths[0]",
        input: "a",
        location: "inside",
        workspacePath: "a",
        hostPath: join(root, "a"),
      },
      {
        argument: "paths[1]",
        input: "../outside/secret.txt",
        location: "outside",
        workspacePath: null,
        hostPath: join(outside, "secret.txt"),
        reason: "it leads outside the workspace",
      },
      {
        argument: "paths[2]",
        input: ".spanline",
        location: "protected",
        workspacePath: null,
        hostPath: data,
        reason: "it leads to files reserved for Spanline",
      },
      {
        argument: "paths[3]",
        input: "",
        location: "invalid",
        workspacePath: null,
        hostPath: null,
        reason: "it is empty",
      },
    ]);
  });

  it("A link resolves to its target [W-04]", async () => {
    const world = createTestWorkspace();
    world.write("secrets/key", "");
    symlinkSync("secrets", join(world.root, "src"));
    expect(await placeOf(world, "src/key")).toEqual(["inside", "secrets/key"]);
    expect(await placeOf(world, "src/new/file")).toEqual(["inside", "secrets/new/file"]);
  });

  it("A path that does not exist yet is valid if it only goes down [W-04]", async () => {
    const world = createTestWorkspace();
    expect(await placeOf(world, "new/./folder/file")).toEqual(["inside", "new/folder/file"]);
    expect(await factOf(world, "new/../file")).toMatchObject({
      location: "invalid",
      reason: "it goes up from a folder that does not exist",
    });
  });

  it("A path keeps the bytes of its names, so two Unicode normalizations stay two files", async () => {
    const world = createTestWorkspace();
    for (const name of ["u\u0308ber", "\u00fcber"]) {
      world.write(name, "");
      expect(await factOf(world, name)).toEqual({
        argument: "path",
        input: name,
        location: "inside",
        workspacePath: name,
        hostPath: join(world.root, name),
      });
    }
  });

  it("~ has no special meaning", async () => {
    expect(await placeOf(createTestWorkspace(), "~/x")).toEqual(["inside", "~/x"]);
  });

  it("A path may have the name of an object property", async () => {
    const world = createTestWorkspace();
    world.write("__proto__/constructor", "");
    expect(await placeOf(world, "__proto__/constructor")).toEqual([
      "inside",
      "__proto__/constructor",
    ]);
  });
});

describe("Paths outside the workspace", () => {
  it("A path that leads out by `..`, by its prefix or by links is outside [W-04]", async () => {
    const world = createTestWorkspace();
    const { root, outside } = world;
    mkdirSync(join(root, "src"));
    symlinkSync(outside, join(root, "link"));
    symlinkSync("link", join(root, "chain"));
    symlinkSync("/", join(root, "machine"));
    const ways = [
      "..",
      "src/../../outside/secret.txt",
      "link/secret.txt",
      "chain/new.txt",
      // `..` leads to the parent of the link's target, not to the parent in the path.
      "link/../outside/secret.txt",
      "machine/etc/passwd",
      "/etc/passwd",
      join(root, "../outside"),
      `${root}-beside/x`,
    ];
    for (const way of ways)
      expect([way, ...(await placeOf(world, way))]).toEqual([way, "outside", null]);
  });

  it.skipIf(process.platform !== "linux")("A path through /proc is outside", async () => {
    const world = createTestWorkspace();
    expect(await placeOf(world, "/proc/self/root/etc/passwd")).toEqual(["outside", null]);
    expect(await placeOf(world, `/proc/self/root${world.data}/log.db`)).toEqual([
      "protected",
      null,
    ]);
    expect(await placeOf(world, "/proc/self/status")).toEqual(["outside", null]);
    expect(await placeOf(world, "/dev/zero")).toEqual(["outside", null]);
  });
});

describe("Invalid paths", () => {
  it.each([
    ["", "it is empty"],
    ["a\0b", "it has a NUL character"],
    ["a\nb", "it has control characters"],
    ["a\u001b[31m", "it has control characters"],
    ["\u202egnp.exe", "it has control characters"],
    ["a\\b", "it has a backslash; folders are separated with /"],
    ["C:/x", "it starts with a drive letter, which is not supported"],
    ["c:x", "it starts with a drive letter, which is not supported"],
    ["x/".repeat(2100), "it is too long"],
    ["\ud800", "it is not valid Unicode"],
    ["n".repeat(300), "a name in it is too long"],
    ["file/inside", "a part of it is not a folder"],
    ["circle/x", "its links form a loop"],
    ["nowhere", "a part of it is a link to a missing target"],
    ["nowhere/x", "a part of it is a link to a missing target"],
  ])("A path is invalid: %j", async (input, reason) => {
    const world = createTestWorkspace();
    world.write("file", "");
    symlinkSync("circle", join(world.root, "circle"));
    symlinkSync(join(world.outside, "new"), join(world.root, "nowhere"));
    expect(await factOf(world, input)).toMatchObject({
      location: "invalid",
      reason,
      workspacePath: null,
      hostPath: null,
    });
  });

  it("Every path is invalid if the workspace does not exist", async () => {
    const folder = createTemporaryFolder();
    writeFileSync(join(folder, "file"), "");
    for (const root of [join(folder, "gone"), join(folder, "file")]) {
      const surroundings = { root, protectedFolders: [] };
      expect(await examinePaths([{ argument: "path", input: "a" }], surroundings)).toMatchObject([
        { location: "invalid", reason: "the workspace does not exist" },
      ]);
    }
  });
});

describe("Protected paths", () => {
  it("A protected path is protected by every route: `..`, a link, a hard link [W-04]", async () => {
    const world = createTestWorkspace();
    const { root, data, outside } = world;
    mkdirSync(join(root, "src"));
    mkdirSync(join(data, "blobs"));
    writeFileSync(join(data, "blobs", "one"), "");
    symlinkSync(".spanline", join(root, "link"));
    symlinkSync(data, join(outside, "link"));
    linkSync(join(data, "log.db"), join(root, "hard"));
    linkSync(join(data, "blobs", "one"), join(outside, "hard"));
    const ways = [
      ".spanline",
      ".spanline/log.db",
      ".spanline/new",
      "src/../.spanline/log.db",
      "link",
      "link/blobs/one",
      "hard",
      "../outside/link/log.db",
      "../outside/hard",
      join(data, "log.db"),
    ];
    for (const way of ways)
      expect([way, ...(await placeOf(world, way))]).toEqual([way, "protected", null]);
    expect(await placeOf(world, ".spanline-other")).toEqual(["inside", ".spanline-other"]);
  });

  it("A protected path is protected before it exists and in any letter case", async () => {
    const { root } = createTestWorkspace();
    const protectedFolders = [join(root, "spanline.config.json"), join(root, "state")];
    const inputs = ["spanline.config.json", "Spanline.Config.JSON", "state/x", "STATE/x", "other"];
    const facts = await examinePaths(
      inputs.map((input) => ({ argument: "path", input })),
      { root, protectedFolders },
    );
    expect(facts.map(({ location: place }) => place)).toEqual([
      "protected",
      "protected",
      "protected",
      "protected",
      "inside",
    ]);
  });

  it("A protected path that was configured as a link protects its target", async () => {
    const { root, data, base } = createTestWorkspace();
    symlinkSync(data, join(base, "alias"));
    const surroundings = { root, protectedFolders: [join(base, "alias")] };
    const inputs = [{ argument: "path", input: ".spanline/log.db" }];
    expect(await examinePaths(inputs, surroundings)).toMatchObject([{ location: "protected" }]);
  });

  it("Every file with several hard links is protected if the protected folder is too large to scan", async () => {
    const { root, data, write } = createTestWorkspace();
    for (let at = 0; at < 2100; at++) writeFileSync(join(data, `f${at}`), "");
    linkSync(write("one", ""), join(root, "two"));
    write("three", "");
    const inputs = ["two", "three", ".spanline/f2099"].map((input) => ({
      argument: "path",
      input,
    }));
    const facts = await examinePaths(inputs, { root, protectedFolders: [data] });
    expect(facts.map(({ location: place }) => place)).toEqual(["protected", "inside", "protected"]);
  });

  it("A protected path can be a single file, and stays protected after it is replaced", async () => {
    const { root, write } = createTestWorkspace();
    const config = write("config.json", "{}");
    const surroundings = { root, protectedFolders: [config] };
    const inputs = [{ argument: "path", input: "config.json" }];
    renameSync(write("new", "{}"), config);
    expect(await examinePaths(inputs, surroundings)).toMatchObject([{ location: "protected" }]);
    expect(realpathSync(config)).toBe(config);
  });
});
