import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { LostInvocationPolicy } from "../../src/domain/agent-spec.ts";
import type { Envelope } from "../../src/domain/events/envelope.ts";
import type { SessionEvent } from "../../src/domain/events/session-event.ts";
import { bundleInto } from "../support/bundle-program.ts";
import { isThorough } from "../support/test-depth.ts";
import { expectProven, expectWhole } from "./expected-log.ts";
import { killWorld, type KillWorld } from "./kill-world.ts";

/**
 * Kills a bridge before and after every append of a session whose agent asks a person and needs an approval for every
 * invocation after the first, and resumes the session in a new process.
 */
const POLICIES: readonly LostInvocationPolicy[] = ["continue", "reseed", "ask"];
/** At least the number of appends of the session. */
const APPENDS = 60;

let folder = "";
let program = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spanline-kill-"));
  program = await bundleInto(folder, "killed-bridge.ts");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function eventsOf<Type extends SessionEvent["type"]>(log: readonly Envelope[], type: Type) {
  const isIt = (event: SessionEvent): event is Extract<SessionEvent, { readonly type: Type }> =>
    event.type === type;
  return log.map(({ event }) => event).filter(isIt);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Every question has one answer, and every invocation was reserved before its start and charged once. */
function expectAskedAndCharged(log: readonly Envelope[]): void {
  const requests = eventsOf(log, "approval.requested").map(({ approvalId }) => approvalId);
  const resolved = eventsOf(log, "approval.resolved").map(({ approvalId }) => approvalId);
  expect(resolved.toSorted()).toEqual(requests.toSorted());
  const questions = eventsOf(log, "approval.requested").filter(
    (one) => one.question === "question",
  );
  const answers = eventsOf(log, "tool.finished").filter(({ ending }) => ending === "succeeded");
  expect(answers.length).toBeLessThanOrEqual(questions.length);
  for (const { result } of answers) expect(JSON.stringify(result.parts)).toContain("Zürich");
  const started = eventsOf(log, "invocation.started").map(({ invocationId }) => invocationId);
  const charges = eventsOf(log, "budget.settled");
  expect(new Set(charges.map(({ invocationId }) => invocationId)).size).toBe(charges.length);
  const settled = charges
    .filter(({ amounts }) => amounts.invocations > 0)
    .map(({ invocationId }) => invocationId);
  // A tool call starts with a reservation, and is charged at its start.
  const calls = eventsOf(log, "tool.started").filter(({ attempt }) => attempt === 1);
  const reservedCalls = eventsOf(log, "budget.reserved").map(({ toolCalls = 0 }) => toolCalls);
  const chargedCalls = charges.map(({ amounts }) => amounts.toolCalls);
  expect(sum(reservedCalls)).toBeGreaterThanOrEqual(calls.length);
  expect(sum(chargedCalls)).toBe(calls.length);
  // The process ends with the last turn, possibly before the last charge.
  const uncharged = started.filter((id) => !settled.includes(id));
  expect(started.slice(-1)).toEqual(expect.arrayContaining(uncharged));
  expect(started).toEqual(expect.arrayContaining(settled));
  const reserved = eventsOf(log, "budget.reserved").map(({ invocationId }) => invocationId);
  for (const id of started) expect(reserved).toContain(id);
  // The first invocation is within the budget; each further one needs the cap to be raised by one.
  const caps = eventsOf(log, "budget.extended").map(({ cap }) => cap);
  expect(caps).toEqual(caps.map((_, at) => at + 2));
  expect(started.length).toBeLessThanOrEqual(caps.length + 1);
}

describe("Killed bridges while the agent waits for people", () => {
  const points = Array.from({ length: APPENDS }, (_, at) => at + 1).flatMap((append) =>
    (["before", "after"] as const).map((when) => ({ append, when })),
  );
  const cases = points.flatMap((kill, at) => {
    const onLost = POLICIES[at % POLICIES.length] ?? "ask";
    return isThorough() || at % 13 === 0 ? [{ kill, onLost }] : [];
  });
  const run = (
    world: KillWorld,
    kill: (typeof points)[number] | null,
    onLost: LostInvocationPolicy,
  ) => world.run(program, { kill, onLost, outcome: "done", isAsking: true });

  it.concurrent.for(cases)(
    "A kill $kill.when append $kill.append loses no question and charges every invocation once, with $onLost [W-32]",
    async ({ kill, onLost }, { onTestFinished: atEnd }) => {
      const world = await killWorld("finish+remember");
      atEnd(() => world.end());
      const killed = await run(world, kill, onLost);
      const before = await world.log();
      // A session with fewer appends ends without a kill, and no second run is necessary.
      const lived = killed.signal === "SIGKILL" ? await run(world, null, onLost) : killed;
      expect(lived).toEqual({ signal: null, code: 0, errors: "" });
      const after = await world.log();
      expect(after.slice(0, before.length)).toEqual(before);
      expectWhole(after);
      await expectProven(world, after);
      expectAskedAndCharged(after);
    },
  );

  it("The session has no more appends than these tests cover", async () => {
    const world = await killWorld("finish+remember");
    onTestFinished(() => world.end());
    const kill = { when: "before", append: APPENDS + 1 } as const;
    expect((await run(world, kill, "ask")).signal).toBeNull();
    expectAskedAndCharged(await world.log());
  });
});
