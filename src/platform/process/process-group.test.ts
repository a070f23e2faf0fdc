import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { expectGone, isAlive } from "../../../test/support/processes.ts";
import { processGroupFromId, processGroupFromLeader } from "./process-group.ts";

/** A shell that leads its own process group and is killed after the test. */
async function led(
  script: string,
): Promise<{ readonly leader: ChildProcess; readonly pid: number }> {
  const leader = spawn("/bin/sh", ["-c", script], {
    detached: true,
    stdio: ["pipe", "pipe", "ignore"],
  });
  await once(leader, "spawn");
  const { pid } = leader;
  if (pid === undefined) throw new Error("The shell could not be started");
  onTestFinished(() => processGroupFromId(pid).kill());
  return { leader, pid };
}

/** Prints the id of a background process, and leaves this process behind when its input ends. */
const LEAVES_ONE = "sleep 1000 & echo $!; read -r line";

async function firstNumber(leader: ChildProcess): Promise<number> {
  if (leader.stdout === null) throw new Error("The shell has no output");
  const [line] = await once(leader.stdout, "data");
  return Number(String(line));
}

describe("Process group", () => {
  it("A group is alive while any of its processes is alive, even after its leader has exited", async () => {
    const { leader } = await led(LEAVES_ONE);
    const group = processGroupFromLeader(leader);
    const childId = await firstNumber(leader);
    leader.stdin?.end();
    await once(leader, "exit");
    expect([group.isAlive, isAlive(childId)]).toEqual([true, true]);
    group.kill();
    await group.waitUntilGone();
    await expectGone(childId);
  });

  it("A group without other processes is gone when its leader exits", async () => {
    const { leader } = await led("exit");
    const group = processGroupFromLeader(leader);
    await once(leader, "exit");
    expect(group.isAlive).toBe(false);
    group.kill();
    await group.waitUntilGone();
  });

  it("Killing a group kills its leader", async () => {
    const { leader, pid } = await led("sleep 1000");
    const group = processGroupFromLeader(leader);
    expect(group.isAlive).toBe(true);
    const ended = once(leader, "exit");
    group.kill();
    expect(await ended).toEqual([null, "SIGKILL"]);
    await expectGone(pid);
  });

  it("A group is gone if another process has the id of its leader", async () => {
    const { pid } = await led("sleep 1000");
    const group = processGroupFromLeader({ pid, exitCode: 0, signalCode: null });
    expect(group.isAlive).toBe(false);
    group.kill();
    expect(isAlive(pid)).toBe(true);
  });

  it("A leader that cannot be started has an empty group", async () => {
    const leader = spawn("/not/there", { detached: true });
    await once(leader, "error");
    const group = processGroupFromLeader(leader);
    expect(group.isAlive).toBe(false);
    group.kill();
    await group.waitUntilGone();
  });

  it("A group known only by its id can be killed", async () => {
    const { leader, pid } = await led(LEAVES_ONE);
    const group = processGroupFromId(pid);
    const childId = await firstNumber(leader);
    expect(group.isAlive).toBe(true);
    group.kill();
    await group.waitUntilGone();
    await expectGone(childId);
    await expectGone(pid);
  });
});
