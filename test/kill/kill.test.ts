import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { LostInvocationPolicy } from "../../src/domain/agent-spec.ts";
import type { Envelope } from "../../src/domain/events/envelope.ts";
import { bundleInto } from "../support/bundle-program.ts";
import { expectedTranscript } from "./expected-transcript.ts";
import { expectOneCharge, expectProven, expectWhole } from "./expected-log.ts";
import { killWorld, transcript, type KillWorld } from "./kill-world.ts";
import { isThorough, testDepth } from "../support/test-depth.ts";

/**
 * Kills a bridge with SIGKILL before and after every append of a session with text, two tools, an approval and a
 * follow-up, resumes in a new process, and checks the transcript, the log and the receipts. In the full lane, every kill
 * meets every switch of the emulator, and the policies for lost invocations alternate. `npm test` covers a fifth of the kills.
 * With the depth `all`, every kill meets every switch and every policy.
 */
const SWITCHES = ["finish+remember", "finish+forget", "abort+keep-user", "abort+forget"] as const;
const ANSWERS: readonly LostInvocationPolicy[] = ["continue", "reseed", "ask"];
/** Number of appends of the session: every stream event is a separate append there. */
const APPENDS = 34;

let folder = "";
let program = "";
let undisturbed: readonly string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spanline-kill-"));
  program = await bundleInto(folder, "killed-bridge.ts");
  const world = await killWorld("finish+remember");
  await world.run(program, { kill: null, onLost: "continue", outcome: "done" });
  undisturbed = transcript(await world.log());
  await world.end();
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("Killed bridges", () => {
  const points = Array.from({ length: APPENDS }, (_, at) => at + 1).flatMap((append) =>
    (["before", "after"] as const).map((when) => ({ append, when })),
  );
  const cases = points.flatMap((kill, at) => {
    const all = SWITCHES.flatMap((onDisconnect, row) =>
      ANSWERS.map((onLost, column) => ({ kill, onDisconnect, onLost, row, column })),
    );
    if (testDepth() === "all") return all;
    if (isThorough())
      return all.filter(({ row, column }) => column === (at + row) % ANSWERS.length);
    return at % 5 === 2 ? all.slice((at * 5) % all.length).slice(0, 1) : [];
  });

  it.concurrent.for(cases)(
    "A kill $kill.when append $kill.append loses nothing and repeats nothing, with $onDisconnect and $onLost [W-32] [ACP-59]",
    async ({ kill, onDisconnect, onLost }, { onTestFinished: atEnd }) => {
      const world = await killWorld(onDisconnect);
      atEnd(() => world.end());
      const died = await world.run(program, { kill, onLost, outcome: "done" });
      expect(died.signal).toBe("SIGKILL");
      const before = await world.log();
      const lived = await world.run(program, { kill: null, onLost, outcome: "done" });
      expect(lived).toEqual({ signal: null, code: 0, errors: "" });
      const after = await world.log();
      expect(after.slice(0, before.length)).toEqual(before);
      expect(transcript(after)).toEqual(expectedTranscript({ onLost, before, after, undisturbed }));
      expectWhole(after);
      await expectProven(world, after);
      await expectNothingTwice(world, after);
    },
  );

  it("The session has no more appends than these tests cover", async () => {
    const world = await killWorld("finish+remember");
    onTestFinished(() => world.end());
    const kill = { when: "before", append: APPENDS + 1 } as const;
    const { signal } = await world.run(program, { kill, onLost: "ask", outcome: "done" });
    expect(signal).toBeNull();
  });
});

async function expectNothingTwice(world: KillWorld, log: readonly Envelope[]): Promise<void> {
  const upstreams = log.filter(({ event }) => event.type === "upstream.opened").length;
  const often = world.heard.filter(
    (text) => world.heard.filter((one) => one === text).length > upstreams,
  );
  expect(often).toEqual([]);
  await expectOneCharge(world, log);
}
