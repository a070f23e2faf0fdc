import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { LostInvocationPolicy } from "../../src/domain/agent-spec.ts";
import type { Envelope } from "../../src/domain/events/envelope.ts";
import type { EventOf } from "../../src/domain/events/session-event.ts";
import { bundleInto } from "../support/bundle-program.ts";
import { testDepth } from "../support/test-depth.ts";
import { expectOneCharge, expectProven, expectWhole } from "./expected-log.ts";
import { killWorld, localKillWorld, type KillWorld } from "./kill-world.ts";

/**
 * Kills a bridge before and after every append of a session which is compacted automatically in its second turn, and on
 * command after the turn. The full lane covers every append; the policies for lost invocations alternate.
 */
const isThorough = testDepth() === "full";
const POLICIES: readonly LostInvocationPolicy[] = ["continue", "reseed", "ask"];
const WORLDS = { harness: () => killWorld("finish+remember"), local: localKillWorld } as const;
/** At least the number of appends of the session with each kind of agent. */
const APPENDS = { harness: 52, local: 52 } as const;

let folder = "";
let program = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spanline-kill-"));
  program = await bundleInto(folder, "killed-bridge.ts");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function listEvents<Type extends Envelope["event"]["type"]>(
  log: readonly Envelope[],
  type: Type,
): EventOf<Type>[] {
  const isIt = (event: Envelope["event"]): event is EventOf<Type> => event.type === type;
  return log.map(({ event }) => event).filter(isIt);
}

/** Every requested compaction has one result, and its attempts are numbered. The last one has the whole conversation. */
function expectCompactedOnce(log: readonly Envelope[]): void {
  const requested = listEvents(log, "compaction.requested").map(({ compactionId }) => compactionId);
  const compacted = listEvents(log, "transcript.compacted");
  const ended = listEvents(log, "compaction.ended");
  const results = [...compacted, ...ended].map(({ compactionId }) => compactionId);
  expect(results.toSorted()).toEqual(requested.toSorted());
  for (const compactionId of requested) {
    const attempts = listEvents(log, "compaction.started").filter(
      (event) => event.compactionId === compactionId,
    );
    expect(attempts.map(({ attempt }) => attempt)).toEqual(attempts.map((_, index) => index + 1));
  }
  expect(ended.map(({ outcome }) => outcome)).not.toContain("failed");
  expect(compacted.map(({ receipt }) => receipt.mode)).toContain("manual");
  const last = compacted.at(-1)?.receipt;
  expect(last).toMatchObject({ engineStrategy: "llm", keptTail: 1 });
}

describe.each(["harness", "local"] as const)(
  "Killed bridges while a conversation is compacted (%s)",
  (where) => {
    const points = Array.from({ length: APPENDS[where] }, (_, at) => at + 1).flatMap((append) =>
      (["before", "after"] as const).map((when) => ({ append, when })),
    );
    const cases = points.flatMap((kill, at) => {
      const onLost = POLICIES[at % POLICIES.length] ?? "ask";
      return isThorough || at % 8 === 3 ? [{ kill, onLost }] : [];
    });
    const run = (
      world: KillWorld,
      kill: (typeof points)[number] | null,
      onLost: LostInvocationPolicy,
    ) => world.run(program, { kill, onLost, outcome: "done", isCompacting: true });

    it.concurrent.for(cases)(
      "A kill $kill.when append $kill.append compacts each time once and loses nothing, with $onLost [ACP-119]",
      async ({ kill, onLost }, { onTestFinished: atEnd }) => {
        const world = await WORLDS[where]();
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
        expectCompactedOnce(after);
        await expectOneCharge(world, after);
      },
    );

    it("The session has no more appends than these tests cover", async () => {
      const world = await WORLDS[where]();
      onTestFinished(() => world.end());
      const kill = { when: "before", append: APPENDS[where] + 1 } as const;
      expect((await run(world, kill, "ask")).signal).toBeNull();
      const log = await world.log();
      expectCompactedOnce(log);
      expect(listEvents(log, "transcript.compacted")).toHaveLength(2);
    });
  },
);
