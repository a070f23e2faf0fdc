import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { bundleInto } from "../support/bundle-program.ts";
import { expectOneCharge, expectProven, expectWhole } from "./expected-log.ts";
import { expectedTranscript } from "./expected-transcript.ts";
import { localKillWorld, transcript } from "./kill-world.ts";
import { isThorough } from "../support/test-depth.ts";

/**
 * Same as `kill.test.ts`, with an agent whose loop runs in the bridge and dies with the bridge. Only the log remains.
 */
const MOST_APPENDS = 32;
const LEAST_APPENDS = 20;

let folder = "";
let program = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "spanline-kill-"));
  program = await bundleInto(folder, "killed-bridge.ts");
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("Killed bridges that run the agent's loop themselves", () => {
  const all = Array.from({ length: MOST_APPENDS }, (_, at) => at + 1).flatMap((append) =>
    (["before", "after"] as const).flatMap((when) =>
      (["resend", "ask"] as const).map((onLost) => ({ kill: { append, when }, onLost })),
    ),
  );
  // Every 13th case alternates kill positions and policies for lost invocations.
  const cases = isThorough() ? all : all.filter((_, at) => at % 13 === 4);
  let undisturbed: readonly string[] = [];

  it("A session without a kill has the expected transcript", async () => {
    const world = await localKillWorld();
    await world.run(program, { kill: null, onLost: "resend", outcome: "done" });
    undisturbed = transcript(await world.log());
    await world.end();
    expect(undisturbed.filter((line) => line === "turn completed")).toHaveLength(2);
    expect(world.heard).toEqual(["first", "lookup is done charge is done", "follow-up"]);
  });

  it.for(cases)(
    "A kill $kill.when append $kill.append loses nothing and repeats nothing, with $onLost",
    async ({ kill, onLost }) => {
      const world = await localKillWorld();
      onTestFinished(() => world.end());
      const died = await world.run(program, { kill, onLost, outcome: "done" });
      expect(kill.append > LEAST_APPENDS ? "SIGKILL" : died.signal).toBe("SIGKILL");
      const before = await world.log();
      const lived = await world.run(program, { kill: null, onLost, outcome: "done" });
      expect(lived).toEqual({ signal: null, code: 0, errors: "" });
      const after = await world.log();
      expect(after.slice(0, before.length)).toEqual(before);
      expect(transcript(after)).toEqual(expectedTranscript({ onLost, before, after, undisturbed }));
      expectWhole(after);
      await expectProven(world, after);
      await expectOneCharge(world, after);
    },
  );
});
