import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/data/json.ts";
import type { SessionEvent } from "../../../src/domain/events/session-event.ts";
import {
  SESSION_ARTIFACT_LIMITS,
  type ArtifactRequest,
} from "../../../src/domain/outputs/artifact.ts";
import type { ToolEmission } from "../../../src/domain/tools/tool-output.ts";
import { createToolOutput } from "../../../src/domain/tools/tool-output.ts";
import { createRuntimeTools } from "../../../src/tools/runtime/runtime-tools.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { appendToLog, createStoredArtifact } from "../../support/session/append-to-log.ts";
import { createScriptedProvider, says, wants } from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openWorld,
  type SessionWorld,
} from "../../support/session/session-world.ts";

const CALLS = 4;
const { count: MAX_COUNT, bytes: MAX_BYTES } = SESSION_ARTIFACT_LIMITS;
/** Bytes of a large emission. The tests leave room for a single emission of this size. */
const SIZE = 60_000;

function createArtifact(fields: Partial<ArtifactRequest>): ToolEmission {
  const { sizeBytes = 0, ...others } = fields;
  const spec = { code: `pie\n${"%".repeat(Math.max(0, sizeBytes - 20))}` };
  const artifact = {
    kind: "mermaid",
    spec,
    title: null,
    fallback: "pie",
    sizeBytes: JSON.stringify(spec).length,
    provenance: {},
    metadata: {},
    ...others,
  } as const;
  return { type: "artifact", artifact };
}

function createHandoff(metadata: JsonObject = {}): ToolEmission {
  const request = { task: "t", target_persona_or_human: "reviewer", metadata };
  return { type: "handoff", handoff: JSON.parse(JSON.stringify(request)) };
}

/** A tool with calls which return only while all calls run, so each call starts without the emissions of the others. */
function createParallelTool(createEmission: (toolCallId: string) => ToolEmission): Tool {
  let release = (): void => undefined;
  const allStarted = new Promise<void>((resolve) => {
    release = resolve;
  });
  let started = 0;
  return createTool({ name: "own", idempotent: true }, async (_, { toolCallId }) => {
    started += 1;
    if (started === CALLS) release();
    await allStarted;
    return createToolOutput({ text: "ok", emissions: [createEmission(toolCallId)] });
  });
}

function createParallelAgent(tool: Tool) {
  const calls = Array.from({ length: CALLS }, (_, at) => ({ id: `c${at}`, name: "own" }));
  const provider = createScriptedProvider([wants(...calls), says("Done.")]);
  return createAgent({ provider, tools: [tool] });
}

/** Adds events to the log of the session, and starts the session again. */
async function addToLog(
  world: SessionWorld,
  events: readonly SessionEvent[],
): Promise<SessionWorld> {
  await world.sessions.close();
  await appendToLog(world.store, world.sessionId, events);
  return world.restart();
}

/** The endings of tool calls, and the error texts of failed tool calls. */
async function readEndings({ store, sessionId }: SessionWorld, after = 0) {
  const events = (await store.read(sessionId, after, 10_000)).map(({ event }) => event);
  const finished = events.flatMap((event) => (event.type === "tool.finished" ? [event] : []));
  const endings = finished.map(({ ending }) => ending).toSorted();
  const texts = finished
    .filter(({ ending }) => ending === "failed")
    .map(({ result }) => JSON.stringify(result.parts));
  return { endings, texts };
}

const ONE_OF_FOUR = ["failed", "failed", "failed", "succeeded"];

describe("Limits of a session with tool calls in parallel", () => {
  it.each<readonly [name: string, emission: ToolEmission]>([
    ["specs", createArtifact({ sizeBytes: SIZE })],
    ["fallbacks", createArtifact({ fallback: "f".repeat(SIZE) })],
    ["metadata", createArtifact({ metadata: { text: "m".repeat(SIZE) } })],
    ["provenance", createArtifact({ provenance: { text: "p".repeat(SIZE) } })],
    ["handoffs", createHandoff({ text: "h".repeat(SIZE) })],
  ])("The %s of parallel tool calls do not exceed the bytes of a session", async (_, emission) => {
    const agent = createParallelAgent(createParallelTool(() => emission));
    // Room for a single emission.
    const sizeBytes = MAX_BYTES - 1.5 * SIZE;
    const world = await addToLog(await openWorld(agent), [createStoredArtifact(0, { sizeBytes })]);
    await world.prompt("Go.");
    await world.waitForEvent("turn.finished");
    const { endings, texts } = await readEndings(world);
    expect(endings).toEqual(ONE_OF_FOUR);
    for (const text of texts)
      expect(text).toContain(
        "own failed: the session has no room for further artifacts: at most 20000 artifacts with 268435456 bytes. " +
          "Fix: show the content as text",
      );
  });

  it("Artifacts and handoffs of parallel tool calls do not exceed the number of a session", async () => {
    let count = 0;
    const tool = createParallelTool(() =>
      count++ % 2 === 0 ? createHandoff() : createArtifact({}),
    );
    const world = await addToLog(
      await openWorld(createParallelAgent(tool)),
      Array.from({ length: MAX_COUNT - 1 }, (_, at) => createStoredArtifact(at, { sizeBytes: 0 })),
    );
    await world.prompt("Go.");
    await world.waitForEvent("turn.finished");
    const { endings } = await readEndings(world, MAX_COUNT - 1);
    expect(endings).toEqual(ONE_OF_FOUR);
  });

  it("Subscriptions of parallel tool calls do not exceed the number of a session", async () => {
    const tool = createParallelTool((toolCallId) => ({
      type: "watch",
      subscriptionId: `fsw_${toolCallId}`,
      watch: { paths: ["."], globs: [] },
    }));
    const world = await openWorld(createParallelAgent(tool));
    for (let at = 0; at < 15; at++) await world.send({ type: "watch-files", paths: [], globs: [] });
    await world.prompt("Go.");
    await world.waitForEvent("turn.finished");
    const { endings, texts } = await readEndings(world);
    expect(endings).toEqual(ONE_OF_FOUR);
    expect(await world.listEvents("watch.added")).toHaveLength(16);
    for (const text of texts)
      expect(text).toContain(
        "the session has 16 subscriptions, the most it may have. Fix: end one",
      );
  });

  it("Parallel tool calls with the same subscription id add one subscription", async () => {
    const tool = createParallelTool(() => ({
      type: "watch",
      subscriptionId: "fsw_same",
      watch: { paths: ["."], globs: [] },
    }));
    const world = await openWorld(createParallelAgent(tool));
    await world.prompt("Go.");
    await world.waitForEvent("turn.finished");
    expect((await readEndings(world)).endings).toEqual(ONE_OF_FOUR);
    expect(await world.listEvents("watch.added")).toHaveLength(1);
  });
});

describe("The tool watch_files at the limit of subscriptions", () => {
  const watch = (input: JsonObject, id: string) => wants({ id, name: "watch_files", input });

  function createWatchingAgent(...scripts: readonly ReturnType<typeof wants>[]) {
    const provider = createScriptedProvider([...scripts, says("Done.")]);
    const tools = createRuntimeTools(["watch_files"]);
    return createAgent({ provider, tools });
  }

  it("An agent without subscriptions learns to ask the user", async () => {
    const world = await openWorld(createWatchingAgent(watch({}, "c1")));
    for (let at = 0; at < 16; at++) await world.send({ type: "watch-files", paths: [], globs: [] });
    await world.prompt("Watch.");
    await world.waitForEvent("turn.finished");
    const { endings, texts } = await readEndings(world);
    expect(endings).toEqual(["failed"]);
    expect(texts[0]).toContain(
      "watch_files failed: the session has 16 subscriptions, the most it may have. " +
        "Fix: ask the user to end a subscription",
    );
    expect(await world.listEvents("watch.added")).toHaveLength(16);
  });

  it("The agent learns which of its subscriptions it can end, and has room afterwards", async () => {
    const world = await openWorld(
      createWatchingAgent(
        watch({}, "c1"),
        watch({}, "c2"),
        says("Full."),
        async function* (signal, call) {
          const [id = ""] = /fsw_tool_\w+/.exec(JSON.stringify(call.input)) ?? [];
          yield* watch({ unwatch: id }, "c3")(signal, call);
        },
        watch({}, "c4"),
      ),
    );
    for (let at = 0; at < 15; at++) await world.send({ type: "watch-files", paths: [], globs: [] });
    await world.prompt("Watch.");
    await world.waitForEvent("turn.finished");
    const { subscriptionId } = await world.waitForEvent("watch.added", 16);
    const { texts } = await readEndings(world);
    expect(texts[0]).toContain(
      `Fix: end one of your subscriptions with unwatch: ${subscriptionId}`,
    );
    await world.prompt(`Replace ${subscriptionId}.`);
    await world.waitForEvent("turn.finished", 2);
    expect(await world.listEvents("watch.removed")).toMatchObject([{ subscriptionId }]);
    expect(await world.listEvents("watch.added")).toHaveLength(17);
  });
});
