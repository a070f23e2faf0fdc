import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { LostInvocationPolicy } from "../../src/domain/agent-spec.ts";
import type { Envelope } from "../../src/domain/events/envelope.ts";
import type { SessionEvent } from "../../src/domain/events/session-event.ts";
import { readArtifactFile } from "../../src/domain/outputs/artifact.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { bundleInto } from "../support/bundle-program.ts";
import { testDepth } from "../support/test-depth.ts";
import { expectProven, expectWhole } from "./expected-log.ts";
import { killWorld, type KillWorld } from "./kill-world.ts";

/**
 * Kills a bridge before and after every append of a session whose agent emits a plan, an artifact and a handoff, and
 * resumes the session in a new process.
 */
const isThorough = testDepth() === "full";
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

/**
 * Each successful tool call has its result exactly once, and no result exists without its call. A lost invocation may
 * leave a turn without its tool calls.
 */
async function expectEmittedOnce(log: readonly Envelope[], { keysDirectory }: KillWorld) {
  const names = new Map(
    eventsOf(log, "tool_call.received").map(({ toolCallId, toolCall }) => [
      toolCallId,
      toolCall.name,
    ]),
  );
  const succeeded = eventsOf(log, "tool.finished")
    .filter(({ ending }) => ending === "succeeded")
    .map(({ toolCallId }) => names.get(toolCallId));
  const count = (name: string): number => succeeded.filter((one) => one === name).length;
  const plans = eventsOf(log, "plan.updated").filter(({ plan }) =>
    plan?.steps.some(({ status }) => status === "in_progress"),
  );
  const artifacts = eventsOf(log, "artifact.emitted");
  const handoffs = eventsOf(log, "handoff.emitted");
  expect([plans.length, artifacts.length, handoffs.length]).toEqual([
    count("emit_plan"),
    count("emit_artifact"),
    count("emit_handoff"),
  ]);
  expect(artifacts.length).toBeLessThanOrEqual(1);
  const store = await openSqliteStore({ file: join(keysDirectory, "sessions.db"), readOnly: true });
  for (const { artifactId } of artifacts) {
    const bytes = await store.readBlob("ses_killed", artifactId);
    expect(readArtifactFile(bytes ?? new Uint8Array(), artifactId)?.text).toBe("graph TD\nA-->B");
  }
  await store.close();
}

describe("Killed bridges while the agent emits results", () => {
  const points = Array.from({ length: APPENDS }, (_, at) => at + 1).flatMap((append) =>
    (["before", "after"] as const).map((when) => ({ append, when })),
  );
  const cases = points.flatMap((kill, at) => {
    const onLost = POLICIES[at % POLICIES.length] ?? "ask";
    return isThorough || at % 8 === 0 ? [{ kill, onLost }] : [];
  });
  const run = (
    world: KillWorld,
    kill: (typeof points)[number] | null,
    onLost: LostInvocationPolicy,
  ) => world.run(program, { kill, onLost, outcome: "done", isEmitting: true });

  it.concurrent.for(cases)(
    "A kill $kill.when append $kill.append emits each plan, artifact and handoff once, with $onLost [W-32]",
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
      await expectEmittedOnce(after, world);
    },
  );

  it("The session has no more appends than these tests cover, and emits everything", async () => {
    const world = await killWorld("finish+remember");
    onTestFinished(() => world.end());
    const kill = { when: "before", append: APPENDS + 1 } as const;
    expect((await run(world, kill, "ask")).signal).toBeNull();
    const log = await world.log();
    await expectEmittedOnce(log, world);
    expect(eventsOf(log, "artifact.emitted")).toHaveLength(1);
    expect(eventsOf(log, "handoff.emitted")).toHaveLength(1);
  });
});
