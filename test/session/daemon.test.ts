import { describe, expect, it } from "vitest";
import { computeIdleWait, computeWatchdogMs } from "../../src/domain/daemon.ts";
import type { AgentSpec } from "../../src/domain/agent-spec.ts";
import type { Reminder } from "../../src/domain/reminder.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createScriptedProvider, says } from "../support/session/scripted-provider.ts";
import { createAgent, openWorld } from "../support/session/session-world.ts";

const REMINDER: Reminder = {
  body: "The workspace changed; read src/lib.rs again.",
  tags: ["workspace"],
  mode: "interrupt_immediate",
  roleHint: "system",
  authority: "contract",
  source: "bridge",
  propagate: "session",
};

async function startDaemon(daemon: NonNullable<AgentSpec["daemon"]> = {}) {
  const clock = createFakeClock();
  const provider = createScriptedProvider([says("Done.")]);
  const world = await openWorld(createAgent({ provider, daemon }), { clock });
  await world.prompt("Go");
  await world.waitForEvent("turn.finished");
  return { clock, provider, world };
}

describe("The idle ladder", () => {
  it("An idle daemon waits 100, 500, 1000 and 2000 ms, and then always 2000 ms [B-159] [ACP-132]", () => {
    const waits = [1, 2, 3, 4, 5, 100].map((iteration) => computeIdleWait({}, iteration));
    expect(waits).toEqual([100, 500, 1000, 2000, 2000, 2000]);
    expect(computeIdleWait({ wakeIntervalMs: 7000 }, 3)).toBe(7000);
  });

  it("The watchdog waits as long as its attempts on the ladder", () => {
    expect(computeWatchdogMs({})).toBeUndefined();
    expect(computeWatchdogMs({ watchdogAttempts: 2 })).toBe(600);
    expect(computeWatchdogMs({ watchdogAttempts: 6 })).toBe(100 + 500 + 1000 + 2000 * 3);
  });
});

describe("An idle daemon", () => {
  it("A resumed daemon starts a turn without a message of the user [B-163] [B-164]", async () => {
    const { world, provider } = await startDaemon();
    expect(await world.send({ type: "resume-daemon" })).toEqual({ status: "accepted" });
    await world.waitForEvent("turn.finished", 2);
    expect(await world.listEvents("daemon.woken")).toEqual([
      { type: "daemon.woken", reason: "resume" },
    ]);
    expect((await world.listEvents("turn.started")).at(-1)).toMatchObject({ wake: "resume" });
    expect((await world.listEvents("message.sent")).at(-1)).toMatchObject({ origin: "wake" });
    expect(await world.listEvents("prompt.accepted")).toHaveLength(1);
    expect(provider.invocations).toHaveLength(2);
  });

  it("A resume is refused for an agent that is not a daemon", async () => {
    const provider = createScriptedProvider([says("Done.")]);
    const world = await openWorld(createAgent({ provider }));
    expect(await world.send({ type: "resume-daemon" })).toMatchObject({
      status: "refused",
      failure: { details: { reason: "not_a_daemon" } },
    });
  });

  it("An injected message wakes an idle daemon in the same decision, without a timer [B-171] [W-16]", async () => {
    const { world, provider } = await startDaemon();
    const content = [{ type: "text", text: "News" }] as const;
    const { seq = 0 } = {
      seq: undefined,
      ...(await world.send({ type: "inject", mode: "queue", content })),
    };
    const log = await world.readLog();
    const types = log.filter((entry) => entry.seq >= seq).map(({ event }) => event.type);
    expect(types.slice(0, 5)).toEqual([
      "inject.accepted",
      "prompt.accepted",
      "daemon.woken",
      "turn.started",
      "message.sent",
    ]);
    await world.waitForEvent("turn.finished", 2);
    expect(provider.invocations.at(-1)?.input).toMatchObject({ texts: ["News"] });
  });

  it("A reminder that interrupts wakes an idle daemon, and a reminder that waits does not", async () => {
    const { world, provider } = await startDaemon();
    await world.send({ type: "remind", reminder: { ...REMINDER, mode: "finish_step" } });
    expect(await world.listEvents("daemon.woken")).toEqual([]);
    await world.send({ type: "remind", reminder: REMINDER });
    await world.waitForEvent("turn.finished", 2);
    expect(await world.listEvents("daemon.woken")).toMatchObject([{ reason: "reminder" }]);
    expect(JSON.stringify(provider.invocations.at(-1)?.input)).toContain(REMINDER.body);
  });

  it("A reminder wakes an idle daemon once, also if the turn ends before its first invocation", async () => {
    const { world, provider } = await startDaemon();
    const capped = createAgent({ provider, daemon: {}, caps: { steps: 0 } });
    const restarted = await world.restart(capped);
    await restarted.send({ type: "remind", reminder: REMINDER });
    await restarted.waitForEvent("turn.finished", 2);
    await restarted.send({ type: "set-title", title: "Still idle" });
    expect(await restarted.listEvents("daemon.woken")).toHaveLength(1);
    expect(await restarted.listEvents("reminder.emitted")).toHaveLength(1);
  });

  it("A reminder does not wake an agent that is not a daemon", async () => {
    const provider = createScriptedProvider([says("Done.")]);
    const world = await openWorld(createAgent({ provider }));
    await world.prompt("Go");
    await world.waitForEvent("turn.finished");
    await world.send({ type: "remind", reminder: REMINDER });
    expect(await world.listEvents("turn.started")).toHaveLength(1);
  });

  it("A daemon with a wake interval starts a turn when the interval has passed, also after a restart [R-064]", async () => {
    const { world, clock } = await startDaemon({ wakeIntervalMs: 60_000 });
    clock.advance(59_999);
    expect(await world.listEvents("daemon.woken")).toEqual([]);
    const restarted = await world.restart();
    clock.advance(60_000);
    await restarted.waitForEvent("turn.finished", 2);
    expect(await restarted.listEvents("daemon.woken")).toMatchObject([{ reason: "timer" }]);
  });

  it("The watchdog stops an idle daemon once, and the next message wakes it [R-066]", async () => {
    const { world, clock } = await startDaemon({ watchdogAttempts: 2 });
    clock.advance(600);
    expect(await world.waitForEvent("daemon.stopped")).toEqual({
      type: "daemon.stopped",
      reason: "watchdog",
      attempts: 2,
      elapsedMs: 600,
    });
    clock.advance(10_000);
    expect(await world.listEvents("daemon.stopped")).toHaveLength(1);
    await world.prompt("Again");
    await world.waitForEvent("turn.finished", 2);
  });
});
