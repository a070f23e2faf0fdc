import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { LostInvocationPolicy } from "../../src/domain/agent-spec.ts";
import type { Envelope } from "../../src/domain/events/envelope.ts";
import { formatPromptPart } from "../../src/domain/prompt.ts";
import { bundleInto } from "../support/bundle-program.ts";
import { isThorough } from "../support/test-depth.ts";
import { expectProven, expectWhole } from "./expected-log.ts";
import { killWorld, localKillWorld, type KillWorld } from "./kill-world.ts";

/**
 * Kills a bridge before and after every append of a session with a steered message, a queued message and a reminder, and
 * resumes the session in a new process. The full lane covers every append; the policies for lost invocations alternate.
 */
const POLICIES: readonly LostInvocationPolicy[] = ["continue", "reseed", "ask"];
const WORLDS = { harness: () => killWorld("finish+remember"), local: localKillWorld } as const;
/** At least the number of appends of the session with each kind of agent. */
const APPENDS = { harness: 52, local: 60 } as const;

let folder = "";
let program = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spanline-kill-"));
  program = await bundleInto(folder, "killed-bridge.ts");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Expects a single delivery of both messages and the reminder, at the agent and in the log. */
function expectDeliveredOnce(log: readonly Envelope[], { heard: received }: KillWorld): void {
  const sent = log.flatMap(({ event }) =>
    event.type === "message.sent" && event.origin === "inject"
      ? event.content.map(formatPromptPart)
      : [],
  );
  expect(sent.toSorted()).toEqual(["queue", "steer"]);
  const accepted = log.filter(({ event }) => event.type === "inject.accepted");
  expect(accepted).toHaveLength(2);
  expect(log.filter(({ event }) => event.type === "reminder.emitted")).toHaveLength(1);
  for (const text of ["steer", "queue", "Mind the time"])
    expect(received.join("\n")).toContain(text);
}

describe.each(["harness", "local"] as const)(
  "Killed bridges while messages wait for the agent (%s)",
  (where) => {
    const points = Array.from({ length: APPENDS[where] }, (_, at) => at + 1).flatMap((append) =>
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
    ) => world.run(program, { kill, onLost, outcome: "done", isSteering: true });

    it.concurrent.for(cases)(
      "A kill $kill.when append $kill.append loses no message and delivers none twice, with $onLost [W-32] [ACP-119]",
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
        expectDeliveredOnce(after, world);
        const charges = (await world.effects()).filter((name) => name === "charge");
        expect(charges.length).toBeLessThanOrEqual(1);
      },
    );

    it("The session has no more appends than these tests cover", async () => {
      const world = await WORLDS[where]();
      onTestFinished(() => world.end());
      const kill = { when: "before", append: APPENDS[where] + 1 } as const;
      expect((await run(world, kill, "ask")).signal).toBeNull();
      expectDeliveredOnce(await world.log(), world);
    });
  },
);
