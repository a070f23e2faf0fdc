import { fork } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { bundleProgram } from "../../../test/support/bundle-program.ts";
import { expectGone, isAlive } from "../../../test/support/processes.ts";
import { startCompanion, type Companion } from "./companion.ts";

const environment = { PATH: process.env["PATH"] ?? "", NAME: "me" };

async function companion(script: string): Promise<Companion> {
  const one = await startCompanion("/bin/sh", ["-c", script], { environment });
  onTestFinished(() => one.stop());
  one.errors.resume();
  return one;
}

async function lineOf(stream: Companion["output"]): Promise<string> {
  const [line]: unknown[] = await once(stream, "data");
  return String(line).trim();
}

describe("Companion process", () => {
  it("A companion receives input and only the given environment", async () => {
    const one = await companion('read -r word; echo "$word $NAME $HOME"');
    one.input.write("hello\n");
    expect(await lineOf(one.output)).toBe("hello me");
    expect(await one.exit).toEqual({ code: 0, signal: null });
  });

  it("exit resolves after the whole group is gone and all output is read", async () => {
    const one = await companion("sleep 1000 & echo $!; echo late; exit 3");
    const read: unknown[] = [];
    one.output.on("data", (data) => read.push(data));
    expect(await one.exit).toEqual({ code: 3, signal: null });
    const [child, rest] = read.join("").split("\n");
    expect(rest).toBe("late");
    await expectGone(Number(child));
  });

  it("A companion may exit by itself when its input is closed", async () => {
    const one = await companion("echo ready; read -r word; exit 7");
    expect(await lineOf(one.output)).toBe("ready");
    await one.stop();
    expect(await one.exit).toEqual({ code: 7, signal: null });
  });

  it("A companion that ignores signals is killed together with its children", async () => {
    const one = await companion(
      'trap "" TERM HUP; sleep 1000 & echo $!; while :; do sleep 1; done',
    );
    const child = Number(await lineOf(one.output));
    await one.stop();
    expect(await one.exit).toEqual({ code: null, signal: "SIGKILL" });
    await expectGone(child);
  });

  it("A companion that cannot be started rejects with the system's error", async () => {
    const options = { environment, workingDirectory: "/not/there" };
    await expect(startCompanion("true", [], options)).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("Companion of a killed process", () => {
  it.each([
    ["a program that reads its input", "echo $$; exec cat"],
    ["a program that ignores signals", 'echo $$; trap "" TERM HUP INT; while :; do sleep 1; done'],
  ])("A companion ends when its parent is killed: %s", async (_, script) => {
    const parent = fork(await bundleProgram("keep-companion.ts"), [script]);
    const [pid]: unknown[] = await once(parent, "message");
    expect(isAlive(Number(pid))).toBe(true);
    parent.kill("SIGKILL");
    await once(parent, "exit");
    await expectGone(Number(pid));
  });
});
