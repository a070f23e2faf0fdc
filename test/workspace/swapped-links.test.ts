import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { JsonObject } from "../../src/data/json.ts";
import { examinePaths } from "../../src/tools/workspace/paths/examine-paths.ts";
import { bundleProgram } from "../support/bundle-program.ts";
import { createTestWorkspace, type TestWorkspace } from "../support/session/test-workspace.ts";
import { allowLongTests } from "../support/test-depth.ts";

allowLongTests();

/** A workspace in which another process keeps replacing a folder and a file with links to the outside. */
async function attacked() {
  const world = createTestWorkspace();
  world.write("folder/file.txt", "inside");
  world.write("file.txt", "inside");
  writeFileSync(join(world.outside, "file.txt"), "SECRET");
  const child = fork(await bundleProgram("swap-links.ts"), [world.root, world.outside]);
  onTestFinished(() => void child.kill("SIGKILL"));
  let rounds = 0;
  child.on("message", (message) => void (rounds = Number(message)));
  await once(child, "message");
  const attacker: Attacker = {
    rounds: () => rounds,
    async end() {
      const over = once(child, "disconnect");
      child.send("stop");
      await over;
    },
  };
  return { world, attacker };
}

interface Attacker {
  /** Number of times the links were created and removed. */
  readonly rounds: () => number;
  readonly end: () => Promise<void>;
}

const OUTSIDE = { "secret.txt": "secret outside", "file.txt": "SECRET" };

function filesIn(folder: string): { [name: string]: string } {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );
}

/**
 * Repeats the tool call until it has both succeeded and been refused, and until the links were swapped hundreds of
 * times meanwhile. Slow machines need more calls, because the other process runs less often.
 */
async function callOften(
  world: TestWorkspace,
  attacker: Attacker,
  { name, inputs }: { readonly name: string; readonly inputs: (count: number) => JsonObject },
): Promise<{ readonly texts: readonly string[]; readonly refused: number }> {
  const texts: string[] = [];
  let refused = 0;
  const isSeen = (times: number): boolean => texts.length >= times && refused >= times;
  const isEnough = (count: number): boolean =>
    attacker.rounds() > 100 && (isSeen(50) || (isSeen(1) && count >= 3000));
  for (let count = 0; !isEnough(count); count++) {
    try {
      const { text, data, diffs } = await world.run(name, inputs(count));
      texts.push(JSON.stringify([text, data, diffs]));
    } catch {
      refused += 1;
    }
  }
  return { texts, refused };
}

describe.skipIf(process.platform !== "linux")(
  "Links to the outside that appear and disappear [W-04]",
  () => {
    it.each([
      ["read_file", () => ({ path: "folder/file.txt" })],
      ["read_file", () => ({ path: "file.txt" })],
      ["write_file", (count: number) => ({ path: "folder/file.txt", content: `new ${count}` })],
      ["write_file", (count: number) => ({ path: "file.txt", content: `new ${count}` })],
      ["write_file", (count: number) => ({ path: `folder/new/${count}`, content: "new" })],
      [
        "edit_file",
        (count: number) =>
          count % 2 === 0
            ? { path: "folder/file.txt", old_text: "inside", new_text: "INSIDE" }
            : { path: "folder/file.txt", old_text: "INSIDE", new_text: "inside" },
      ],
      ["list_files", () => ({ path: "folder" })],
      ["search", () => ({ path: "folder", pattern: "." })],
      [
        "run_command",
        () => ({
          // The kernel's view of the working directory: bash reports its own name, which by then may be the link's.
          command: "readlink /proc/self/cwd; cat file.txt",
          working_directory: "folder",
        }),
      ],
    ])("%s never reaches the target of a swapped link", async (name, inputs) => {
      const { world, attacker } = await attacked();
      const { texts, refused } = await callOften(world, attacker, { name, inputs });
      const rounds = attacker.rounds();
      await attacker.end();
      expect(texts.filter((text) => /SECRET|secret|outside/.test(text))).toEqual([]);
      expect(filesIn(world.outside)).toEqual(OUTSIDE);
      // The race was real: calls succeeded and calls were refused while the links were swapped hundreds of times.
      expect([texts.length > 0, refused > 0, rounds > 100]).toEqual([true, true, true]);
    });

    it("A path that was evaluated as inside is not followed outside", async () => {
      const { world, attacker } = await attacked();
      const { root, data } = world;
      const inputs = [{ argument: "path", input: "folder/file.txt" }];
      const judged = await examinePaths(inputs, { root, protectedFolders: [data] });
      const paths = judged.map((fact) => ({
        ...fact,
        location: "inside" as const,
        workspacePath: "folder/file.txt",
        hostPath: join(root, "folder/file.txt"),
      }));
      for (let count = 0; count < 500; count++) {
        const read = world.run("read_file", { path: "folder/file.txt" }, { paths });
        expect(
          await read.then(
            ({ text }) => text.includes("inside"),
            () => true,
          ),
        ).toBe(true);
      }
      await attacker.end();
    });

    it("An allowed external path is not followed elsewhere", async () => {
      const { world, attacker } = await attacked();
      // Reversed roles: the attacked folder is outside this workspace.
      const other = createTestWorkspace();
      const path = join(world.root, "folder/file.txt");
      const fact = { argument: "path", input: path, location: "outside", hostPath: path } as const;
      const paths = [{ ...fact, workspacePath: null }];
      const { texts, refused } = await callOften(
        { ...other, run: (name, input) => other.run(name, input, { paths }) },
        attacker,
        { name: "read_file", inputs: () => ({ path }) },
      );
      await attacker.end();
      expect(texts.filter((text) => text.includes("SECRET"))).toEqual([]);
      expect([texts.length > 0, refused > 0]).toEqual([true, true]);
    });

    it("With path anchoring, an opened file is still checked against its evaluated location", async () => {
      const { root, outside, run, write } = createTestWorkspace({ anchor: "path" });
      write("folder/a.txt", "inside");
      mkdirSync(join(root, "other"));
      expect((await run("read_file", { path: "folder/a.txt" })).text).toContain("inside");
      await run("write_file", { path: "folder/new/b.txt", content: "b" });
      await run("edit_file", { path: "folder/a.txt", old_text: "inside", new_text: "still" });
      expect((await run("search", { pattern: "still" })).data).toMatchObject({ matches: 1 });
      expect((await run("list_files", { glob: "*.txt" })).data).toMatchObject({ listed: 2 });
      expect((await run("run_command", { command: "pwd" })).text).toContain(root);
      await expect(run("read_file", { path: join(outside, "secret.txt") })).rejects.toMatchObject({
        details: { reason: "outside" },
      });
    });
  },
);
