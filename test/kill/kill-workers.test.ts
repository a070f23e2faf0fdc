import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { LostInvocationPolicy } from "../../src/domain/agent-spec.ts";
import type { Envelope } from "../../src/domain/events/envelope.ts";
import type { EventOf, SessionEventType } from "../../src/domain/events/session-event.ts";
import { isTerminalStatus } from "../../src/domain/workers/worker.ts";
import { bundleInto } from "../support/bundle-program.ts";
import { testDepth } from "../support/test-depth.ts";
import { expectOneCharge, expectProven, expectWhole } from "./expected-log.ts";
import { stateOf } from "./expected-transcript.ts";
import { killWorld, type KillWorld } from "./kill-world.ts";

/**
 * Kills a bridge before and after every append of a delegating session and of the session of a worker. Approvals of the
 * worker are answered in the delegating session. A new process resumes both sessions.
 */
const isThorough = testDepth() === "full";
const POLICIES: readonly LostInvocationPolicy[] = ["continue", "reseed", "ask"];
/** At least the number of appends of both sessions. */
const APPENDS = 80;

let folder = "";
let program = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spanline-kill-"));
  program = await bundleInto(folder, "killed-bridge.ts");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function list<Type extends SessionEventType>(log: readonly Envelope[], type: Type) {
  const isIt = (event: Envelope["event"]): event is EventOf<Type> => event.type === type;
  return log.map(({ event }) => event).filter(isIt);
}

/** Every worker has a single session with a single prompt, and is ended and closed once. */
async function expectWholeTree(world: KillWorld, log: readonly Envelope[]): Promise<void> {
  const spawned = list(log, "worker.spawned").map(({ workerId }) => workerId);
  const logs = await world.workerLogs();
  const opened = logs.flatMap((childLog) => list(childLog, "session.opened"));
  expect(opened.map(({ lineage }) => lineage?.workerId ?? "").toSorted()).toEqual(
    spawned.toSorted(),
  );
  const ends = [...list(log, "worker.completed"), ...list(log, "worker.failed")];
  const cancels = list(log, "worker.cancelled");
  const ended = [...ends, ...cancels].map(({ workerId }) => workerId);
  expect(ended.toSorted()).toEqual(spawned.toSorted());
  const closed = list(log, "worker.closed").map(({ workerId }) => workerId);
  expect(closed.toSorted()).toEqual(spawned.toSorted());
  expect(stateOf(log).workers.open.filter(({ status }) => isTerminalStatus(status))).toEqual([]);
  for (const childLog of logs) {
    expectWhole(childLog);
    await expectProven(world, childLog);
    expect(list(childLog, "prompt.accepted")).toHaveLength(1);
  }
}

describe("Killed bridges with a worker", () => {
  const points = Array.from({ length: APPENDS }, (_, at) => at + 1).flatMap((append) =>
    (["before", "after"] as const).map((when) => ({ append, when })),
  );
  const cases = points.flatMap((kill, at) => {
    const onLost = POLICIES[at % POLICIES.length] ?? "ask";
    return isThorough || at % 10 === 0 ? [{ kill, onLost }] : [];
  });
  const run = (
    world: KillWorld,
    kill: (typeof points)[number] | null,
    onLost: LostInvocationPolicy,
  ) => world.run(program, { kill, onLost, outcome: "done", isDelegating: true });

  it.concurrent.for(cases)(
    "A kill $kill.when append $kill.append leaves one session per worker and no orphan, with $onLost [W-32]",
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
      await expectWholeTree(world, after);
      await expectOneCharge(world, after);
    },
  );

  it("The sessions have no more appends than these tests cover", async () => {
    const world = await killWorld("finish+remember");
    onTestFinished(() => world.end());
    const kill = { when: "before", append: APPENDS + 1 } as const;
    expect((await run(world, kill, "ask")).signal).toBeNull();
    await expectWholeTree(world, await world.log());
  });
});
