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

async function held(script: string): Promise<GatedProcess> {
  const one = await startGatedProcess("/bin/sh", ["-c", script], { environment: { NAME: "me" } });
  onTestFinished(() => one.stop());
  return one;
}

describe("a held program", () => {
  it("begins when it is let go, with its input and its environment alone", async () => {
    const program = await held(`cat; echo "$NAME, $HOME"; echo no >&2; exit 3`);
    program.openGate("in\n");
    const output = await Promise.all([textOf(program.output), textOf(program.errors)]);
    expect(output).toEqual(["in\nme, \n", "no\n"]);
    expect(await program.close).toEqual({ code: 3, signal: null });
  });

  it("never begins when it is ended before", async () => {
    const folder = mkdtempSync(join(tmpdir(), "spanline-held-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const program = await held(`touch ${join(folder, "made")}`);
    await program.stop();
    program.openGate();
    program.output.resume();
    program.errors.resume();
    expect(await program.close).toEqual({ code: null, signal: "SIGKILL" });
    expect(existsSync(join(folder, "made"))).toBe(false);
  });

  it("takes the programs that it started with it", async () => {
    const program = await held("sleep 1000 & echo $!; wait");
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

  it("keeps what it wrote for whoever reads it after its end", async () => {
    const program = await held("echo out; echo err >&2");
    program.openGate();
    await program.exit;
    // By then Node has thrown away what nobody was reading.
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect([await textOf(program.output), await textOf(program.errors)]).toEqual([
      "out\n",
      "err\n",
    ]);
    expect(await program.close).toEqual({ code: 0, signal: null });
  });

  it("is over before what it started in the background is", async () => {
    const program = await held("sleep 1000 & exit 3");
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

  it("is an error of its own when it cannot be started", async () => {
    const options = { environment: {}, workingDirectory: "/not/there" };
    await expect(startGatedProcess("true", [], options)).rejects.toMatchObject({ code: "ENOENT" });
  });
});

describe("the group of a program that another process left", () => {
  it("is ended by its number and its birth, and left alone when it may be another's", async () => {
    const { group, output, errors, close } = await held("true");
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
