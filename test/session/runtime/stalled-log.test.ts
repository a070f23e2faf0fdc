import { describe, expect, it, onTestFinished } from "vitest";
import {
  createSessions,
  type RunningSessions,
} from "../../../src/session/runtime/create-sessions.ts";
import type { Store } from "../../../src/store/store.ts";
import { createFakeClock, type FakeClock } from "../../support/fake-clock.ts";
import {
  createFillingStore,
  DISK_FULL,
  type FillingOptions,
} from "../../support/session/filling-store.ts";
import { createGate } from "../../support/gate.ts";
import {
  createTurnEnd,
  says,
  createScriptedProvider,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import { createAgent, ME } from "../../support/session/session-world.ts";

function sessionsOn(store: Store, clock: FakeClock, answers: readonly ProviderScript[]) {
  const reports: unknown[] = [];
  const receivedInputs: string[] = [];
  const provider = createScriptedProvider(answers);
  const sessions = createSessions({
    store,
    agents: [createAgent({ provider })],
    clock,
    owner: "test",
    report: (error) => void reports.push(error),
    onSessionFailed: (sessionId) => void receivedInputs.push(sessionId),
  });
  onTestFinished(() => sessions.close());
  return { sessions, provider, reports, receivedInputs };
}

/** Emits half of a response, and the rest when released. */
function inTwo(goOn: () => Promise<void>): ProviderScript {
  return async function* () {
    yield { type: "message.start", message: 0, role: "assistant" };
    yield { type: "text.delta", message: 0, block: 0, text: "Half" };
    await goOn();
    yield { type: "text.end", message: 0, block: 0, text: "Half and half" };
    yield createTurnEnd({ outcome: "completed" });
  };
}

/** Advances the clock in steps, with a tick of the event loop after each, until a condition holds. */
async function passUntil(clock: FakeClock, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let round = 0; round < 2000; round++) {
    if (await holds()) return;
    clock.advance(50);
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error("The condition did not hold within 100 s of the clock");
}

const types = async (store: Store, sessionId: string): Promise<readonly string[]> =>
  (await store.read(sessionId, 0, 1000)).map(({ event }) => event.type);

const content = [{ type: "text", text: "Go" }] as const;
const PROMPT = { type: "prompt", content } as const;
const TITLE = { type: "set-title", title: "Named in vain" } as const;

/** A session in the middle of a response, on a disk which is full when the rest arrives. */
async function stalled(options: FillingOptions = {}) {
  const clock = createFakeClock();
  const disk = createFillingStore(options);
  const { pass, open } = createGate();
  const world = sessionsOn(disk.store, clock, [inTwo(pass), says("Again.")]);
  const { sessionId } = await world.sessions.open({ principal: ME });
  await world.sessions.command(sessionId, PROMPT, { principal: ME });
  await passUntil(clock, async () => (await types(disk.store, sessionId)).includes("text.delta"));
  disk.fill(true);
  open();
  await passUntil(clock, () => disk.refused > 0);
  return { ...world, clock, disk, sessionId };
}

async function isIdle(sessions: RunningSessions, sessionId: string): Promise<boolean> {
  return (await sessions.find(sessionId))?.state === "idle";
}

describe("A session whose log cannot be written", () => {
  it("A stalled turn continues in the same invocation when there is space again, without a new prompt", async () => {
    const { sessions, provider, clock, disk, sessionId, reports, receivedInputs } = await stalled();
    await passUntil(clock, () => disk.refused > 12);
    disk.fill(false);
    await passUntil(clock, () => isIdle(sessions, sessionId));
    const log = await types(disk.store, sessionId);
    expect(log.slice(log.indexOf("text.delta"))).toEqual([
      "text.delta",
      "text.finished",
      "message.finished",
      "invocation.finished",
      "turn.finished",
    ]);
    expect(log).not.toContain("session.recovered");
    expect(log).not.toContain("invocation.lost");
    expect(provider.invocations).toHaveLength(1);
    expect([reports, receivedInputs]).toEqual([[DISK_FULL], []]);
  });

  it("A command waiting behind a stalled turn is refused after 5 seconds, and never written", async () => {
    const { sessions, clock, disk, sessionId } = await stalled();
    const start = clock.monotonic();
    const waiting = sessions.command(sessionId, TITLE, { principal: ME });
    let error: unknown;
    waiting.catch((reason: unknown) => (error = reason));
    await passUntil(clock, () => error !== undefined);
    expect(error).toBe(DISK_FULL);
    expect(clock.monotonic() - start).toBeLessThanOrEqual(5100);
    disk.fill(false);
    await passUntil(clock, () => isIdle(sessions, sessionId));
    expect(await types(disk.store, sessionId)).not.toContain("session.title_changed");
    expect(await sessions.command(sessionId, TITLE, { principal: ME })).toMatchObject({
      status: "accepted",
    });
  });

  it("A command whose own write fails is refused, and the session is unchanged", async () => {
    const clock = createFakeClock();
    const disk = createFillingStore();
    const { sessions } = sessionsOn(disk.store, clock, [says("Done.")]);
    const { sessionId } = await sessions.open({ principal: ME });
    disk.fill(true);
    const waiting = sessions.command(sessionId, PROMPT, { principal: ME });
    let error: unknown;
    waiting.catch((reason: unknown) => (error = reason));
    await passUntil(clock, () => error !== undefined);
    expect(error).toBe(DISK_FULL);
    disk.fill(false);
    clock.advance(60_000);
    expect(await types(disk.store, sessionId)).not.toContain("prompt.accepted");
    await sessions.command(sessionId, PROMPT, { principal: ME });
    await passUntil(clock, async () =>
      (await types(disk.store, sessionId)).includes("turn.finished"),
    );
  });

  it("A command which waited less than 5 seconds is accepted when there is space again", async () => {
    const { sessions, clock, disk, sessionId } = await stalled();
    const waiting = sessions.command(sessionId, TITLE, { principal: ME });
    clock.advance(1000);
    disk.fill(false);
    let reply: unknown;
    void waiting.then((value) => (reply = value));
    await passUntil(clock, () => reply !== undefined);
    expect(reply).toMatchObject({ status: "accepted" });
    expect(
      (await types(disk.store, sessionId)).filter((type) => type === "session.title_changed"),
    ).toEqual(["session.title_changed"]);
  });

  it("A stalled session closes without waiting for the disk, and the next process resumes it", async () => {
    const { sessions, disk, sessionId } = await stalled();
    await sessions.close();
    disk.fill(false);
    const clock = createFakeClock();
    const next = sessionsOn(disk.store, clock, [says("Again.")]);
    await next.sessions.resumeInterrupted();
    expect(await types(disk.store, sessionId)).toContain("session.recovered");
  });

  it("A session is resumed in the background as soon as a disk full at the start has space", async () => {
    const { sessions, disk, sessionId } = await stalled();
    await sessions.close();
    const clock = createFakeClock();
    const next = sessionsOn(disk.store, clock, [says("Again.")]);
    await next.sessions.resumeInterrupted();
    const before = disk.refused;
    await passUntil(clock, () => disk.refused > before + 10);
    disk.fill(false);
    await passUntil(clock, async () =>
      (await types(disk.store, sessionId)).includes("session.recovered"),
    );
    expect(next.receivedInputs).toEqual([]);
  });

  it("A stalled session keeps its lease while it cannot be renewed", async () => {
    const clock = createFakeClock();
    const disk = createFillingStore();
    const { pass, open } = createGate();
    const { sessions, receivedInputs } = sessionsOn(disk.store, clock, [inTwo(pass)]);
    const { sessionId } = await sessions.open({ principal: ME });
    await sessions.command(sessionId, PROMPT, { principal: ME });
    disk.fill(true);
    await passUntil(clock, () => {
      clock.advance(60_000);
      return disk.refused > 3;
    });
    disk.fill(false);
    open();
    await passUntil(clock, () => isIdle(sessions, sessionId));
    expect(receivedInputs).toEqual([]);
    expect(await types(disk.store, sessionId)).not.toContain("session.recovered");
  });

  it("The log check reports a stalled session, even while a probe of the store succeeds", async () => {
    const { sessions, disk, clock, sessionId } = await stalled({ isProbeSmall: true });
    await expect(sessions.checkLog()).rejects.toBe(DISK_FULL);
    await passUntil(clock, () => disk.refused > 12);
    await expect(sessions.checkLog()).rejects.toBe(DISK_FULL);
    disk.fill(false);
    await passUntil(clock, () => isIdle(sessions, sessionId));
    await expect(sessions.checkLog()).resolves.toBeUndefined();
  });

  it("The log check fails until the store can be written", async () => {
    const { sessions, disk, clock, sessionId } = await stalled();
    await expect(sessions.checkLog()).rejects.toBe(DISK_FULL);
    disk.fill(false);
    await passUntil(clock, () => isIdle(sessions, sessionId));
    await expect(sessions.checkLog()).resolves.toBeUndefined();
  });
});
