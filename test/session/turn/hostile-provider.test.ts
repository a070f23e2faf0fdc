import { describe, expect, it } from "vitest";
import { toError, ProviderError } from "../../../src/domain/provider/provider-error.ts";
import type { ProviderEvent } from "../../../src/domain/provider/provider-event.ts";
import {
  createTurnEnd,
  generateMessage,
  says,
  createScriptedProvider,
  wants,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openWorld,
  type SessionWorld,
} from "../../support/session/session-world.ts";

/** Values which a provider's code may emit although its types forbid them. */
function anything(value: object): ProviderEvent {
  return Object(value);
}

function endsWith(end: object): ProviderScript {
  return async function* () {
    yield* generateMessage([{ type: "text.end", message: 0, block: 0, text: "Well." }], "end_turn");
    yield anything({ ...createTurnEnd({ outcome: "completed" }), ...end });
  };
}

/** Prompts twice: whatever the first invocation does, the session stays usable. */
async function afterOne(answer: ProviderScript): Promise<SessionWorld> {
  const provider = createScriptedProvider([answer, says("Yes.")]);
  const world = await openWorld(createAgent({ provider }));
  await world.prompt("One");
  await world.waitForEvent("turn.finished");
  await world.prompt("Two");
  expect(await world.waitForEvent("turn.finished", 2)).toMatchObject({ outcome: "completed" });
  expect(world.reports).toEqual([]);
  return world;
}

describe("A provider which violates its contract", () => {
  it.each([
    ["another outcome", { outcome: "splendid" }, /: outcome is "splendid", expected completed, /],
    ["a name that every object has", { outcome: "constructor" }, /: outcome is "constructor", /],
    ["no outcome", { outcome: undefined }, /: outcome is missing, /],
    [
      "an outcome that is not a string",
      { outcome: { type: "completed" } },
      /: outcome is an object, /,
    ],
    ["a reason that is not a string", { reason: 7 }, /: reason is 7, expected a string or null/],
    ["no reason", { reason: undefined }, /: reason is missing, /],
    [
      "no open calls",
      { openToolCallIds: undefined },
      /: openToolCallIds is missing, expected a list of ids/,
    ],
    ["open calls that are not a list", { openToolCallIds: "c1" }, /: openToolCallIds is "c1", /],
    ["no usage", { usage: undefined }, /: usage is missing, expected tokens or null/],
  ])("An invalid end event (%s) fails only its invocation", async (_, end, problem) => {
    const world = await afterOne(endsWith(end));
    const failure = {
      code: "unexpected_answer",
      message: expect.stringMatching(problem),
      details: { phase: "stream" },
    };
    expect(await world.waitForEvent("invocation.finished")).toMatchObject({
      outcome: "failed",
      failure,
    });
    const finished = await world.waitForEvent("turn.finished");
    expect(finished).toMatchObject({ outcome: "failed", reason: null, failure });
    expect(finished.failure && toError(finished.failure)).toBeInstanceOf(ProviderError);
    expect(await world.waitForEvent("text.finished")).toMatchObject({ text: "Well." });
  });

  it("After an invalid end event, no tool runs", async () => {
    const ran: string[] = [];
    const send = createTool({ name: "send" }, () => ran.push("send"));
    const provider = createScriptedProvider([
      async function* (...args) {
        for await (const event of wants({ id: "c1", name: "send" })(...args)) {
          yield event.type === "end" ? anything({ ...event, outcome: "action" }) : event;
        }
      },
    ]);
    const world = await openWorld(createAgent({ provider, tools: [send] }));
    await world.prompt("Send.");
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "failed" });
    expect(await world.waitForEvent("tool.finished")).toMatchObject({ ending: "cancelled" });
    expect(ran).toEqual([]);
  });

  it("Unknown events are stored unchanged", async () => {
    const world = await afterOne(async function* (...args) {
      yield anything({ type: "song.start", key: "C" });
      yield anything({ type: "constructor" });
      yield* says("Well.")(...args);
    });
    expect(await world.listEvents("provider.unknown")).toMatchObject([
      { what: "event", name: "song.start", raw: { type: "song.start", key: "C" } },
      { what: "event", name: "constructor", raw: { type: "constructor" } },
    ]);
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
  });
});
