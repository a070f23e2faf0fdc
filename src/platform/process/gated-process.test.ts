import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { isAlive, expectGone } from "../../../test/support/processes.ts";
import { endProcessGroup, startGatedProcess, type GatedProcess } from "./gated-process.ts";

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function startShell(script: string): Promise<GatedProcess> {
  const one = await startGatedProcess("/bin/sh", ["-c", script], { environment: { NAME: "me" } });
  onTestFinished(() => one.stop());
  return one;
}

describe("Gated process", () => {
  it("A gated program starts when the gate opens, with its input and only the given environment", async () => {
    const program = await startShell(`cat; echo "$NAME, $HOME"; echo no >&2; exit 3`);
    program.openGate("in\n");
    const output = await Promise.all([textOf(program.output), textOf(program.errors)]);
    expect(output).toEqual(["in\nme, \n", "no\n"]);
    expect(await program.close).toEqual({ code: 3, signal: null });
  });

  it("A gated program that is stopped before the gate opens never starts", async () => {
    const folder = mkdtempSync(join(tmpdir(), "spanline-held-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const program = await startShell(`touch ${join(folder, "made")}`);
    await program.stop();
    program.openGate();
    program.output.resume();
    program.errors.resume();
    expect(await program.close).toEqual({ code: null, signal: "SIGKILL" });
    expect(existsSync(join(folder, "made"))).toBe(false);
  });

  it("Stopping a program also ends its child processes", async () => {
    const program = await startShell("sleep 1000 & echo $!; wait");
    program.openGate();
    const [line] = await new Promise<Uint8Array[]>((resolve) => {
      program.output.once("data", (...data) => resolve(data));
    });
    const child = Number(Buffer.from(line ?? []).toString());
    expect(isAlive(child)).toBe(true);
    await program.stop();
    await expectGone(child);
    expect(isAlive(program.group.id)).toBe(false);
  });

  it("Output can be read after the program has exited", async () => {
    const program = await startShell("echo out; echo err >&2");
    program.openGate();
    await program.exit;
    // By now Node has discarded unread output.
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect([await textOf(program.output), await textOf(program.errors)]).toEqual([
      "out\n",
      "err\n",
    ]);
    expect(await program.close).toEqual({ code: 0, signal: null });
  });

  it("exit resolves before background processes of the program have ended", async () => {
    const program = await startShell("sleep 1000 & exit 3");
    let isEnded = false;
    void program.close.then(() => void (isEnded = true));
    program.output.resume();
    program.errors.resume();
    program.openGate();
    expect(await program.exit).toEqual({ code: 3, signal: null });
    expect([isEnded, program.isGone()]).toEqual([false, false]);
    await program.stop();
    expect(await program.close).toEqual({ code: 3, signal: null });
  });

  it("A program that cannot be started rejects with the system's error", async () => {
    const options = { environment: {}, workingDirectory: "/not/there" };
    await expect(startGatedProcess("true", [], options)).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("Process group of another process", () => {
  it("A group is ended only if its id and its start time match", async () => {
    const { group, output, errors, close } = await startShell("true");
    output.resume();
    errors.resume();
    await endProcessGroup({ ...group, startTime: `${group.startTime}0` });
    await endProcessGroup({ ...group, startTime: "" });
    expect(isAlive(group.id)).toBe(true);
    await endProcessGroup(group);
    expect(await close).toEqual({ code: null, signal: "SIGKILL" });
    await endProcessGroup(group);
  });
});
