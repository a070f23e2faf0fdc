import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import { readBridgeFile } from "../../src/bridge/owner/bridge-file.ts";
import { startEditorProcess, type EditorProcess } from "../support/acp/editor-process.ts";
import { waitUntil } from "../support/with-deadline.ts";

const root = join(import.meta.dirname, "../..");
let folder = "";
let main = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spanline-takeover-"));
  main = join(folder, "dist/cli/main.js");
  const rolldown = join(root, "node_modules/rolldown/bin/cli.mjs");
  const args = [rolldown, "-c", "--dir", join(folder, "dist"), "--logLevel", "silent"];
  await promisify(execFile)(process.execPath, args, { cwd: root });
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  await symlink(join(root, "package.json"), join(folder, "package.json"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface World {
  readonly directory: string;
  readonly errors: string[];
  readonly editor: () => EditorProcess;
  /** Starts `spanline up` and returns its process id when it is ready. */
  readonly up: () => Promise<number>;
  readonly notes: () => Promise<readonly string[]>;
}

async function world(): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), "spanline-directory-"));
  const errors: string[] = [];
  const children: { kill(signal: "SIGKILL"): boolean; readonly pid?: number | undefined }[] = [];
  onTestFinished(async () => {
    for (const child of children) child.kill("SIGKILL");
    await rm(directory, { recursive: true, force: true });
  });
  return {
    directory,
    errors,
    editor() {
      const editor = startEditorProcess([main, "acp", "-d", directory], (text) =>
        errors.push(text),
      );
      children.push(editor.process);
      return editor;
    },
    async up() {
      const args = ["--no-warnings", main, "up", "--port=0", "--json", "-d", directory];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      children.push(child);
      await once(child.stdout, "data");
      if (child.pid === undefined) throw new Error("It did not start");
      return child.pid;
    },
    async notes() {
      const file = join(directory, "notes.txt");
      return existsSync(file) ? (await readFile(file, "utf8")).split("\n").filter(Boolean) : [];
    },
  };
}

describe("Owner of a data directory", () => {
  it("After a kill a joined editor becomes the owner, both prompts are answered and no tool runs twice [W-32]", async () => {
    const { up, editor, directory, notes, errors } = await world();
    const owner = await up();
    const [left, right] = [editor(), editor()];
    const editors = [left, right];
    const [first, second] = await Promise.all([left.newSession(), right.newSession()]);
    expect((await readBridgeFile(directory))?.pid).toBe(owner);
    const prompts = [
      left.prompt(first, "Please save a note: buy milk"),
      right.prompt(second, "Please save a note: call Ada"),
    ];
    await Promise.all(editors.map((one) => one.waitForUpdate("tool_call")));
    process.kill(owner, "SIGKILL");
    expect(await Promise.all(prompts)).toEqual(["end_turn", "end_turn"]);
    const next = await readBridgeFile(directory);
    expect(editors.map(({ process: { pid } }) => pid)).toContain(next?.pid);
    expectAtMost(await notes(), ["buy milk", "call Ada"]);
    expect(errors.join("")).toBe("");
  });

  it("A stopped owner keeps its sessions and continues after SIGCONT", async () => {
    const { up, editor, directory, notes, errors } = await world();
    const owner = await up();
    const [left, right] = [editor(), editor()];
    const editors = [left, right];
    const [first, second] = await Promise.all([left.newSession(), right.newSession()]);
    const prompts = [
      left.prompt(first, "Please save a note: buy milk"),
      right.prompt(second, "Please save a note: call Ada"),
    ];
    await Promise.all(editors.map((one) => one.waitForUpdate("tool_call")));
    process.kill(owner, "SIGSTOP");
    const third = editor();
    const beginning = third.newSession();
    await eventually(() => expect(errors.join("")).toContain("does not respond"));
    process.kill(owner, "SIGCONT");
    expect(await Promise.all(prompts)).toEqual(["end_turn", "end_turn"]);
    expect(await third.prompt(await beginning, "Hello")).toBe("end_turn");
    expect((await readBridgeFile(directory))?.pid).toBe(owner);
    expectAtMost(await notes(), ["buy milk", "call Ada"]);
    expect(JSON.parse(errors.join(""))).toEqual({
      message: "the owner of the sessions does not respond; waiting for it",
      directory,
      pid: owner,
    });
  });

  it("A new owner follows after every kill", async () => {
    const { editor, directory, notes, errors } = await world();
    const editors = [editor(), editor(), editor()];
    const sessions = await Promise.all(editors.map((one) => one.newSession()));
    const owners = new Set<number>();
    for (const text of ["one", "two"]) {
      const { pid = 0 } = (await readBridgeFile(directory)) ?? {};
      owners.add(pid);
      const living = editors.filter((one) => !owners.has(one.process.pid ?? 0));
      const prompts = living.map((one) =>
        one.prompt(sessions[editors.indexOf(one)] ?? "", `Please save a note: ${text}`),
      );
      await Promise.all(living.map((one) => one.waitForUpdate("tool_call")));
      process.kill(pid, "SIGKILL");
      const answers = new Set(await Promise.all(prompts));
      expect([answers, errors.join("")]).toEqual([new Set(["end_turn"]), ""]);
    }
    expect(owners.size).toBe(2);
    expectAtMost(await notes(), ["one", "one", "two"]);
    expect(errors.join("")).toBe("");
  });

  it("An idle joined process becomes the owner at once", async () => {
    const { up, editor, directory, notes } = await world();
    const firstEditor = editor();
    const session = await firstEditor.newSession();
    const joined = await up();
    void firstEditor.prompt(session, "Please save a note: buy milk");
    await firstEditor.waitForUpdate("tool_call");
    firstEditor.process.kill("SIGKILL");
    await waitUntil(async () => (await readBridgeFile(directory))?.pid === joined);
    expectAtMost(await notes(), ["buy milk"]);
  });
});

/** The editors report a note as saved if its tool was running at the kill, whether the note was written or not. */
function expectAtMost(written: readonly string[], expected: readonly string[]): void {
  const rest = [...expected];
  for (const note of written) {
    expect(rest).toContain(note);
    rest.splice(rest.indexOf(note), 1);
  }
}
