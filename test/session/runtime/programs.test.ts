import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSessions } from "../../../src/session/runtime/create-sessions.ts";
import { decide } from "../../../src/session/decide.ts";
import { evolve } from "../../../src/session/evolve.ts";
import { loadState } from "../../../src/session/runtime/log/load-state.ts";
import { collectSessionFields } from "../../../src/session/runtime/log/append-decision.ts";
import { createProcessSpawner } from "../../../src/session/runtime/effects/process-spawner.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { LogHead } from "../../../src/store/log-store.ts";
import type { Store } from "../../../src/store/store.ts";
import type { SpawnedProcess } from "../../../src/tools/tool.ts";
import { bundleProgram } from "../../support/bundle-program.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { isAlive, expectGone } from "../../support/processes.ts";
import { says, createScriptedProvider, wants } from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openWorld,
  type SessionWorld,
} from "../../support/session/session-world.ts";

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "spanline-programs-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

async function outputOf({ output, errors, ended }: SpawnedProcess): Promise<string> {
  const read = async (stream: AsyncIterable<Uint8Array>): Promise<string> => {
    let text = "";
    for await (const chunk of stream) text += Buffer.from(chunk).toString();
    return text;
  };
  const [text] = await Promise.all([read(output), read(errors), ended]);
  return text;
}

/** Runs `sleep` next to a shell, and reports both as progress. */
const sleeper = (timeoutMs = 3_600_000) =>
  createTool({ name: "run", timeoutMs }, async (_, context) => {
    const program = await context.spawn("/bin/sh", ["-c", "sleep 1000 & echo $!; wait"]);
    for await (const line of program.output) context.progress(Buffer.from(line).toString().trim());
    return "slept";
  });

async function expectAsleep(world: SessionWorld) {
  const { group } = await world.waitForEvent("tool.process_started");
  const { text } = await world.waitForEvent("tool.progress");
  const pids = [group.id, Number(text)];
  expect(pids.map(isAlive)).toEqual([true, true]);
  return pids;
}

const DEAD = { owner: "dead", now: 0, durationMs: 1, takeOver: true } as const;

async function headOf({ store, sessionId }: SessionWorld): Promise<LogHead> {
  const head = await store.readHead(sessionId);
  if (head === undefined) throw new Error("The session does not exist");
  return head;
}

const wantsRun = wants({ id: "c1", name: "run" });

describe("Processes of a tool", () => {
  it("A process runs with its input in the session's folder", async () => {
    const provider = createScriptedProvider([wantsRun, says("Done.")]);
    const run = createTool({ name: "run" }, async (_, context) =>
      outputOf(await context.spawn("/bin/sh", ["-c", "pwd; cat"], { input: "in" })),
    );
    const store = createMemoryStore();
    const clock = createFakeClock();
    const sessions = createSessions({
      store,
      agents: [createAgent({ provider, tools: [run] })],
      clock,
      owner: "test",
    });
    onTestFinished(() => sessions.close());
    const workingDirectory = folder();
    const principal = { id: "me", rights: ["prompt"] } as const;
    const { sessionId } = await sessions.open({ principal, workingDirectory });
    const content = [{ type: "text", text: "Run." }] as const;
    await sessions.command(sessionId, { type: "prompt", content }, { principal });
    const { signal } = new AbortController();
    for await (const { events } of sessions.subscribe(sessionId, undefined, signal)) {
      if (events.some(({ event }) => event.type === "turn.finished")) break;
    }
    expect(provider.invocations[1]?.input).toMatchObject({
      results: [{ parts: [{ text: `${workingDirectory}\nin` }] }],
    });
  });

  it("A process starts only after its group is logged", async () => {
    const path = join(folder(), "made");
    let isAsked: () => void = () => undefined;
    const requestArrival = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    let release: () => void = () => undefined;
    const toolGate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const memory = createMemoryStore();
    const store: Store = {
      ...memory,
      async append(lease, expectedSeq, entry) {
        if (entry.events.some(({ event }) => event.type === "tool.process_started")) {
          isAsked();
          await toolGate;
          expect(entry.sync).toBe(true);
        }
        return memory.append(lease, expectedSeq, entry);
      },
    };
    const provider = createScriptedProvider([wantsRun, says("Done.")]);
    const run = createTool({ name: "run" }, async (_, context) =>
      outputOf(await context.spawn("/usr/bin/env", ["touch", path])),
    );
    const world = await openWorld(createAgent({ provider, tools: [run] }), { store });
    await world.prompt("Run.");
    await requestArrival;
    expect(existsSync(path)).toBe(false);
    release();
    await world.waitForEvent("turn.finished");
    expect(existsSync(path)).toBe(true);
  });

  it("A process never starts if the bridge is killed before its group is logged", async () => {
    const path = join(folder(), "made");
    const child = fork(await bundleProgram("held-program.ts"), [path]);
    const [group] = await once(child, "message");
    expect(isAlive(group.id)).toBe(true);
    child.kill("SIGKILL");
    await once(child, "exit");
    await expectGone(group.id);
    expect(existsSync(path)).toBe(false);
  });

  it("A cancel terminates a process and its children", async () => {
    const provider = createScriptedProvider([wantsRun, says("Done.")]);
    const world = await openWorld(createAgent({ provider, tools: [sleeper()] }));
    await world.prompt("Run.");
    const pids = await expectAsleep(world);
    await world.cancel();
    for (const pid of pids) await expectGone(pid);
  });

  it("The next bridge terminates processes left by a kill between a cancel and their end", async () => {
    const provider = createScriptedProvider([wantsRun, says("Done.")]);
    const agent = createAgent({ provider, tools: [sleeper()] });
    const world = await openWorld(agent);
    await world.prompt("Run.");
    const pids = await expectAsleep(world);
    const { store, sessionId } = world;
    // The events of the cancel, before its first process was terminated.
    const state = await loadState(store, sessionId, await headOf(world));
    const actor = { kind: "user", principal: "me" } as const;
    const command = { type: "cancel" } as const;
    const rights = ["prompt"] as const;
    const cancelled = {
      type: "command-received",
      command,
      actor,
      rights,
      at: 1,
      seed: "0".repeat(13),
    } as const;
    const { events } = decide(state, cancelled);
    const { lease } = await store.acquire(sessionId, DEAD);
    const index = collectSessionFields(events, events.reduce(evolve, state));
    await store.append(lease, state.seq, { events, index, sync: true });
    expect(pids.map(isAlive)).toEqual([true, true]);

    const next = createSessions({
      store,
      agents: [agent],
      clock: createFakeClock(),
      owner: "next",
    });
    onTestFinished(() => next.close());
    await next.resumeInterrupted();
    for (const pid of pids) await expectGone(pid);
    expect(await next.find(sessionId)).toMatchObject({ state: "idle" });
  });

  it("A process is listed until it has exited, even after a cancel", async () => {
    const provider = createScriptedProvider([wantsRun, says("Done.")]);
    const run = createTool({ name: "run" }, async (_, context) => {
      await outputOf(await context.spawn("/bin/sh", ["-c", "echo"]));
      await outputOf(await context.spawn("/bin/sh", ["-c", "sleep 1000"]));
    });
    const world = await openWorld(createAgent({ provider, tools: [run] }));
    await world.prompt("Run.");
    const first = await world.waitForEvent("tool.process_exited");
    expect(first.group).toEqual((await world.waitForEvent("tool.process_started")).group);
    const { group } = await world.waitForEvent("tool.process_started", 2);
    await world.cancel();
    expect(await world.sessions.find(world.sessionId)).toMatchObject({ state: "running" });
    expect(await world.waitForEvent("tool.process_exited", 2)).toMatchObject({ group });
    expect(isAlive(group.id)).toBe(false);
    expect(await world.sessions.find(world.sessionId)).toMatchObject({ state: "idle" });
  });

  it("A process is terminated at the timeout of its tool, before the agent gets the result", async () => {
    const clock = createFakeClock();
    const provider = createScriptedProvider([wantsRun, says("Done.")]);
    const world = await openWorld(createAgent({ provider, tools: [sleeper(5000)] }), { clock });
    await world.prompt("Run.");
    const pids = await expectAsleep(world);
    clock.advance(5000);
    await world.waitForEvent("tool.finished");
    for (const pid of pids) await expectGone(pid);
    await world.waitForEvent("turn.finished");
  });

  it("A process is terminated with its tool, even if the tool did not wait for it", async () => {
    const provider = createScriptedProvider([wantsRun, says("Done.")]);
    const run = createTool({ name: "run" }, async (_, context) => {
      await context.spawn("/bin/sh", ["-c", "sleep 1000"]);
      return "left";
    });
    const world = await openWorld(createAgent({ provider, tools: [run] }));
    await world.prompt("Run.");
    await world.waitForEvent("tool.finished");
    const { group } = await world.waitForEvent("tool.process_started");
    await expectGone(group.id);
  });

  it("Processes left by a killed bridge are terminated before any request or run", async () => {
    const provider = createScriptedProvider([wantsRun, says("Done.")]);
    const agent = createAgent({ provider, tools: [sleeper()] });
    const world = await openWorld(agent);
    await world.prompt("Run.");
    const pids = await expectAsleep(world);
    const memory = world.store;
    const alive: boolean[] = [];
    const store: Store = {
      ...memory,
      append(lease, expectedSeq, entry) {
        alive.push(...pids.map(isAlive));
        return memory.append(lease, expectedSeq, entry);
      },
    };
    const next = createSessions({
      store,
      agents: [agent],
      clock: createFakeClock(),
      owner: "next",
    });
    onTestFinished(() => next.close());
    await next.resumeInterrupted();
    expect(alive.slice(0, 2)).toEqual([false, false]);
    expect((await world.listEvents("approval.requested")).at(-1)).toMatchObject({
      question: "outcome",
    });
  });
});

describe("A process started after its tool ended", () => {
  const started = (ended: () => void, isRefused = false) => {
    const controller = new AbortController();
    const groups: number[] = [];
    const work = {
      signal: controller.signal,
      onStarted: async ({ id }: { readonly id: number }) => {
        groups.push(id);
        ended();
        if (isRefused) throw new Error("The session was closed here");
      },
      onExited: async () => undefined,
    };
    return { controller, groups, ...createProcessSpawner(work) };
  };

  it("A process does not start if its tool ended, was cancelled or lost its session in the meantime", async () => {
    const path = join(folder(), "made");
    const args = ["touch", path];
    const byEnd = started(() => void byEnd.end());
    await expect(byEnd.spawn("/usr/bin/env", args)).rejects.toMatchObject({ code: "aborted" });
    await expect(byEnd.spawn("/usr/bin/env", args)).rejects.toMatchObject({ code: "aborted" });
    const byCancel = started(() => byCancel.controller.abort());
    await expect(byCancel.spawn("/usr/bin/env", args)).rejects.toThrow("aborted");
    const byLoss = started(() => undefined, true);
    await expect(byLoss.spawn("/usr/bin/env", args)).rejects.toThrow("closed");
    for (const { groups } of [byEnd, byCancel, byLoss]) {
      for (const id of groups) await expectGone(id);
    }
    expect(existsSync(path)).toBe(false);
  });
});
