import { describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";
import type { BridgeOptions } from "../../src/bridge/bridge-options.ts";
import type { RetentionOptions } from "../../src/bridge/apply-retention.ts";
import { startSessions } from "../../src/bridge/start-sessions.ts";
import type { OwnedSessions } from "../../src/bridge/owner/ownership.ts";
import type { RetentionResult } from "../../src/store/store.ts";
import { temporaryFolder } from "../store/sqlite-support.ts";
import { createFakeClock, type FakeClock } from "../support/fake-clock.ts";
import { says, createScriptedProvider } from "../support/session/scripted-provider.ts";
import { createAgent, ME } from "../support/session/session-world.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

interface Bridge extends OwnedSessions {
  readonly removals: readonly RetentionResult[];
  readonly reports: readonly unknown[];
  ids(): Promise<readonly string[]>;
}

type Keep = Omit<RetentionOptions, "onRemoved">;

/** The process that owns the sessions of a directory. */
async function started(directory: string, clock: FakeClock, keep?: Keep): Promise<Bridge> {
  const removals: RetentionResult[] = [];
  const reports: unknown[] = [];
  const onRemoved = (retained: RetentionResult): void => void removals.push(retained);
  const provider = createScriptedProvider([says("Yes. ".repeat(1000))]);
  const options: BridgeOptions = {
    directory,
    version: "test",
    clock,
    agents: async () => ({ agents: [createAgent({ provider })], close: async () => undefined }),
    report: (error) => void reports.push(error),
    ...(keep !== undefined && { retention: { ...keep, onRemoved } }),
  };
  const bridge = await startSessions(options, () => undefined);
  onTestFinished(() => bridge.close());
  return {
    ...bridge,
    removals,
    reports,
    async ids() {
      const { sessions } = await bridge.sessions.list({ limit: 100 });
      return sessions.map(({ sessionId }) => sessionId).sort();
    },
  };
}

/** Advances the clock in steps, like a machine without sleep. */
async function pass(clock: FakeClock, milliseconds: number): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += HOUR / 4) {
    clock.advance(HOUR / 4);
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  }
}

const open = ({ sessions }: Bridge, sessionId: string) =>
  sessions.open({ principal: ME, sessionId });

async function attach({ sessions }: Bridge, sessionId: string): Promise<void> {
  const client = { clientId: "client_1", mode: "observer", name: "an editor" } as const;
  await sessions.command(sessionId, { type: "attach", ...client }, { principal: ME });
}

async function detach({ sessions }: Bridge, sessionId: string): Promise<void> {
  const command = { type: "detach", clientId: "client_1", reason: "client_exit" } as const;
  await sessions.command(sessionId, command, { principal: ME });
}

describe("Retention of sessions", () => {
  it("Sessions are kept forever by default", async () => {
    const [directory, clock] = [temporaryFolder(), createFakeClock()];
    const first = await started(directory, clock);
    await open(first, "ses_a");
    await pass(clock, 2 * DAY);
    clock.jump(1000 * DAY);
    await pass(clock, DAY);
    await first.close();
    expect(await (await started(directory, clock)).ids()).toEqual(["ses_a"]);
  });

  it("Sessions unused for the configured number of days are deleted at start", async () => {
    const [directory, clock] = [temporaryFolder(), createFakeClock()];
    const first = await started(directory, clock);
    await open(first, "ses_old");
    clock.jump(20 * DAY);
    await open(first, "ses_new");
    await first.close();
    clock.jump(15 * DAY);
    const next = await started(directory, clock, { keepDays: 30 });
    expect(await next.ids()).toEqual(["ses_new"]);
    expect(next.removals).toMatchObject([{ deletedSessions: 1, droppedEvents: 0 }]);
  });

  it("A session is deleted within an hour of its expiry", async () => {
    const clock = createFakeClock();
    const bridge = await started(temporaryFolder(), clock, { keepDays: 1 });
    await open(bridge, "ses_a");
    await pass(clock, DAY - HOUR);
    expect(await bridge.ids()).toEqual(["ses_a"]);
    await pass(clock, 2 * HOUR);
    await eventually(async () => expect(await bridge.ids()).toEqual([]));
    // Only the removal is reported.
    await eventually(() => expect(bridge.removals).toMatchObject([{ deletedSessions: 1 }]));
    expect(bridge.reports).toEqual([]);
  });

  it("A session with an attached client is kept, also while the machine sleeps", async () => {
    const clock = createFakeClock();
    const bridge = await started(temporaryFolder(), clock, { keepDays: 1 });
    await open(bridge, "ses_a");
    await attach(bridge, "ses_a");
    await pass(clock, 2 * DAY);
    clock.jump(100 * DAY);
    await pass(clock, HOUR);
    expect(await bridge.ids()).toEqual(["ses_a"]);
    await detach(bridge, "ses_a");
    await pass(clock, DAY + 2 * HOUR);
    await eventually(async () => expect(await bridge.ids()).toEqual([]));
  });

  it("A session with a subscriber is kept", async () => {
    const clock = createFakeClock();
    const bridge = await started(temporaryFolder(), clock, { keepDays: 1 });
    await open(bridge, "ses_a");
    const leave = new AbortController();
    const batches = bridge.sessions.subscribe("ses_a", undefined, leave.signal);
    const reader = batches[Symbol.asyncIterator]();
    await reader.next();
    await pass(clock, 3 * DAY);
    expect(await bridge.ids()).toEqual(["ses_a"]);
    leave.abort();
    await reader.next();
    await pass(clock, HOUR);
    await eventually(async () => expect(await bridge.ids()).toEqual([]));
  });

  it("The oldest sessions are deleted until the size is below the limit", async () => {
    const [directory, clock] = [temporaryFolder(), createFakeClock()];
    const first = await started(directory, clock);
    for (const sessionId of ["ses_1", "ses_2", "ses_3"]) {
      await open(first, sessionId);
      const content = [{ type: "text", text: "Long. ".repeat(100_000) }] as const;
      const prompt = { type: "prompt", content } as const;
      await first.sessions.command(sessionId, prompt, { principal: ME });
      await pass(clock, HOUR);
    }
    await first.close();
    const next = await started(directory, clock, { keepMegabytes: 3 });
    expect(await next.ids()).toEqual(["ses_2", "ses_3"]);
    expect(next.removals).toMatchObject([{ deletedSessions: 1 }]);
    expect(next.removals[0]?.bytes).toBeLessThan(3_000_000);
  });

  it("The retention timer stops when the process closes the sessions", async () => {
    const [directory, clock] = [temporaryFolder(), createFakeClock()];
    const bridge = await started(directory, clock, { keepDays: 1 });
    await bridge.close();
    expect(clock.pending).toBe(0);
  });
});
