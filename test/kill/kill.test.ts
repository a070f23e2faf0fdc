import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { OnLost } from "../../src/domain/agent-event.ts";
import type { Envelope } from "../../src/domain/envelope.ts";
import { evolve } from "../../src/session/evolve.ts";
import { initialState, type SessionState } from "../../src/session/state.ts";
import { bundledForAll } from "../support/bundled.ts";
import { killWorld, livingIn, transcript, type KillWorld } from "./kill-world.ts";

/**
 * Kills a bridge with SIGKILL before and after every append of a session with text, two tools, an approval and a
 * follow-up, lets a new process go on, and looks at what everybody saw. KILL_TESTS=all does so for every switch of the
 * emulator and every answer to a lost call; otherwise they take turns.
 */
const isThorough = process.env["KILL_TESTS"] === "all";
const SWITCHES = ["finish+remember", "finish+forget", "abort+keep-user", "abort+forget"] as const;
const ANSWERS: readonly OnLost[] = ["continue", "reseed", "ask"];
/** A bit more than a session takes; beyond its last append a process is not killed at all. */
const APPENDS = 26;

let program = "";
let undisturbed: readonly string[] = [];

beforeAll(async () => {
  program = await bundledForAll("killed-bridge.ts");
  const world = await killWorld("finish+remember");
  await world.run(program, { kill: null, onLost: "continue", outcome: "done" });
  undisturbed = transcript(await world.log());
  await world.end();
});

describe("a bridge that is killed", () => {
  const points = Array.from({ length: APPENDS }, (_, at) => at + 1).flatMap((append) =>
    (["before", "after"] as const).map((when) => ({ append, when })),
  );
  const cases = points.flatMap((kill, at) => {
    const all = SWITCHES.flatMap((onDisconnect) =>
      ANSWERS.map((onLost) => ({ kill, onDisconnect, onLost, outcome: "done" as const })),
    );
    return isThorough ? all : all.filter((_, index) => index === (at * 5) % all.length);
  });

  it.each(cases)(
    "$kill.when append $kill.append loses nothing and does nothing twice, with $onDisconnect and $onLost [W-32] [ACP-59]",
    async ({ kill, onDisconnect, onLost, outcome }) => {
      const world = await killWorld(onDisconnect);
      onTestFinished(() => world.end());
      const died = await world.run(program, { kill, onLost, outcome });
      if (died.signal === null) {
        expect(transcript(await world.log())).toEqual(undisturbed);
        return;
      }
      expect(died.signal).toBe("SIGKILL");
      const before = await world.log();
      const lived = await world.run(program, { kill: null, onLost, outcome });
      expect(lived).toEqual({ signal: null, code: 0, errors: "" });
      const after = await world.log();
      expect(after.slice(0, before.length)).toEqual(before);
      expectWhole(after);
      await expectNothingTwice(world, after);
      expectTranscript(onLost, stateOf(before), { before, after });
    },
  );
});

function stateOf(log: readonly Envelope[]): SessionState {
  return log.reduce(evolve, initialState);
}

interface Logs {
  readonly before: readonly Envelope[];
  readonly after: readonly Envelope[];
}

function expectTranscript(onLost: OnLost, killed: SessionState, { before, after }: Logs): void {
  const said = transcript(after);
  const wasCalling = killed.turn.current?.stage.type === "calling";
  const wasCharging = killed.tools.runs.some(
    ({ name, status }) => name === "charge" && status === "running",
  );
  if (wasCalling) {
    const lost = said.indexOf("lost");
    const prefix = transcript(before, after);
    expect(said.slice(0, prefix.length)).toEqual(prefix);
    expect(said.filter((line) => line === "lost")).toHaveLength(1);
    if (onLost === "continue") {
      expect(said[lost + 1]).toMatch(/^recovery: The connection was lost/);
      expect(said.slice(lost + 2, lost + 4)).toEqual(["agent: I go on.", "turn completed"]);
    } else {
      // Begun anew, the agent says again what it was saying when the connection broke.
      const cut = said.slice(0, lost).filter((line) => !line.endsWith(" [cut]"));
      const calls = before.findLastIndex(({ event }) => event.type === "call.started");
      const kept = transcript(before.slice(0, calls), after);
      expect(cut.slice(0, kept.length)).toEqual(kept);
      expect([...kept, ...said.slice(lost + 1)]).toEqual(undisturbed);
    }
  } else if (wasCharging) {
    const charged = said.find((line) => line.startsWith("charge:"));
    expect(charged).toContain("charge did its work; its output was lost");
    expect(said.map((line) => line.split(" ")[0])).toEqual(
      undisturbed.map((line) => line.split(" ")[0]),
    );
  } else {
    expect(said).toEqual(undisturbed);
  }
}

function expectWhole(log: readonly Envelope[]): void {
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, at) => at + 1));
  const state = stateOf(log);
  expect(state.turn.current).toBeNull();
  expect(state.approvals.pending).toEqual([]);
  const started = log.filter(({ event }) => event.type === "turn.started");
  const finished = log.filter(({ event }) => event.type === "turn.finished");
  expect([started.length, finished.length]).toEqual([2, 2]);
  const called = log.flatMap(({ event }) =>
    event.type === "tool.announced" ? event.toolCallId : [],
  );
  const closed = log.flatMap(({ event }) =>
    event.type === "tool.finished" ? event.toolCallId : [],
  );
  expect([...closed].sort()).toEqual([...called].sort());
}

async function expectNothingTwice(world: KillWorld, log: readonly Envelope[]): Promise<void> {
  const upstreams = log.filter(({ event }) => event.type === "upstream.opened").length;
  for (const text of new Set(world.heard)) {
    const times = world.heard.filter((one) => one === text).length;
    expect({ text, times: Math.max(times, upstreams) }).toEqual({ text, times: upstreams });
  }
  const charges = (await world.effects()).filter((line) => line === "charge");
  expect(charges.length).toBeLessThanOrEqual(1);
  for (const { event } of log) {
    if (event.type !== "tool.spawned") continue;
    expect(await livingIn(event.group.id)).toEqual([]);
  }
}
