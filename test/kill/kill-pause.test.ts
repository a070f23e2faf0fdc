import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { LostInvocationPolicy } from "../../src/domain/agent-spec.ts";
import type { SessionEvent } from "../../src/domain/events/session-event.ts";
import type { Envelope } from "../../src/domain/events/envelope.ts";
import { bundleInto } from "../support/bundle-program.ts";
import { expectProven, expectWhole } from "./expected-log.ts";
import { killWorld, localKillWorld, type KillWorld } from "./kill-world.ts";
import { isThorough, testDepth } from "../support/test-depth.ts";

/**
 * Kills a bridge before and after every append of a session whose agent calls a client tool, and resumes the session in
 * a new process. The full lane covers every append, and the policies for lost invocations alternate. With the depth `all`,
 * every append meets every policy.
 */
const ANSWERS: readonly LostInvocationPolicy[] = ["continue", "reseed", "ask"];
const WORLDS = { harness: () => killWorld("finish+remember"), local: localKillWorld } as const;
/** Number of appends of the session with each kind of agent. */
const APPENDS = { harness: 30, local: 36 } as const;

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

/** No client tool call ran in the bridge, and every pause was answered exactly once. */
function expectGivenOnce(log: readonly Envelope[]): void {
  const paused = eventsOf(log, "turn.paused").map(({ toolCallIds }) => toolCallIds);
  const submittedIds = eventsOf(log, "tool_results.submitted").map(
    ({ toolCallIds }) => toolCallIds,
  );
  expect(submittedIds).toEqual(paused);
  const handedOut = new Set(paused.flat());
  const started = eventsOf(log, "tool.started").filter((event) => handedOut.has(event.toolCallId));
  expect(started).toEqual([]);
  const results = eventsOf(log, "tool.finished").filter((event) => handedOut.has(event.toolCallId));
  expect(results.map(({ ending }) => ending)).toEqual([...handedOut].map(() => "succeeded"));
}

describe.each(["harness", "local"] as const)(
  "Killed bridges while the agent (%s) waits for client tools",
  (where) => {
    const points = Array.from({ length: APPENDS[where] }, (_, at) => at + 1).flatMap((append) =>
      (["before", "after"] as const).map((when) => ({ append, when })),
    );
    const cases = points.flatMap((kill, at) => {
      const all = ANSWERS.map((onLost) => ({ kill, onLost }));
      if (testDepth() === "all") return all;
      return isThorough() || at % 7 === 0 ? all.slice(at % all.length).slice(0, 1) : [];
    });
    const run = (
      world: KillWorld,
      kill: (typeof points)[number] | null,
      onLost: LostInvocationPolicy,
    ) => world.run(program, { kill, onLost, outcome: "done", isPausing: true });

    it.concurrent.for(cases)(
      "A kill $kill.when append $kill.append loses no pause, with $onLost [W-32]",
      async ({ kill, onLost }, { onTestFinished: atEnd }) => {
        const world = await WORLDS[where]();
        atEnd(() => world.end());
        expect((await run(world, kill, onLost)).signal).toBe("SIGKILL");
        const before = await world.log();
        const lived = await run(world, null, onLost);
        expect(lived).toEqual({ signal: null, code: 0, errors: "" });
        const after = await world.log();
        expect(after.slice(0, before.length)).toEqual(before);
        expectWhole(after);
        await expectProven(world, after);
        expectGivenOnce(after);
      },
    );

    it("The session has no more appends than these tests cover", async () => {
      const world = await WORLDS[where]();
      onTestFinished(() => world.end());
      const kill = { when: "before", append: APPENDS[where] + 1 } as const;
      expect((await run(world, kill, "ask")).signal).toBeNull();
      const log = await world.log();
      expect(eventsOf(log, "turn.paused")).toHaveLength(1);
      expectGivenOnce(log);
    });
  },
);
