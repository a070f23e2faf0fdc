import { describe, expect, it } from "vitest";
import type { PromptOptions } from "../../../src/domain/prompt.ts";
import type { SubmittedResult } from "../../../src/domain/session-command.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import {
  says,
  createScriptedProvider,
  wants,
  type ScriptedProvider,
} from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  createTool,
  openWorld,
  type AgentParts,
  type SessionWorld,
} from "../../support/session/session-world.ts";

const TAKES = {
  instructions: true,
  tools: true,
  allowedTools: true,
  maxOutputTokens: true,
} as const;
const weather = { name: "weather", description: "Tells the weather", schema: { type: "object" } };
const content = [{ type: "text", text: "Will it rain?" }] as const;
const options: PromptOptions = { tools: [weather] };
const GUEST = { id: "guest", rights: ["prompt"] } as const;
const CONTROLLER = { id: "boss", rights: ["prompt", "control"] } as const;

const asksWeather = wants({ id: "c1", name: "weather", input: { city: "Bern" } });

interface StartedTurn {
  readonly world: SessionWorld;
  readonly provider: ScriptedProvider;
}

async function paused(
  answers = [asksWeather, says("It rains."), says("Yes?")],
  parts: Partial<AgentParts> = {},
): Promise<StartedTurn> {
  const provider = createScriptedProvider(answers, { capabilities: TAKES });
  const world = await openWorld(createAgent({ provider, ...parts }));
  await world.send({ type: "prompt", content, options, note: { mine: true } });
  await world.waitForEvent("turn.paused");
  return { world, provider };
}

function createResult(toolCallId: string, text = "Rain", isError = false): SubmittedResult {
  return { toolCallId, parts: [{ type: "text", text }], isError };
}

async function handedOut(world: SessionWorld): Promise<string[]> {
  const [pause] = (await world.listEvents("turn.paused")).slice(-1);
  return [...(pause?.toolCallIds ?? [])];
}

describe("Calls of a prompter's tool", () => {
  it("A call of a prompter's tool pauses the turn, is not evaluated or run here, and continues with the submitted result [OR-53]", async () => {
    const { world, provider } = await paused();
    const called = await world.waitForEvent("tool_call.received");
    expect(called).toMatchObject({ executor: "prompter", toolCall: { name: "weather" } });
    expect(await handedOut(world)).toEqual([called.toolCallId]);
    expect(await world.sessions.find(world.sessionId)).toMatchObject({ state: "waiting" });
    const reply = await world.send({
      type: "submit-results",
      results: [createResult(called.toolCallId)],
      content: [{ type: "text", text: "And tomorrow?" }],
      note: { second: true },
    });
    const { turnId } = await world.waitForEvent("turn.finished");
    expect(reply).toEqual({
      status: "accepted",
      promptId: expect.any(String),
      turnId,
      seq: expect.any(Number),
    });
    expect(provider.invocations[1]?.input).toMatchObject({
      type: "results",
      results: [{ toolCallId: "c1", parts: [{ type: "text", text: "Rain" }], isError: false }],
      texts: ["And tomorrow?"],
    });
    const types = (await world.readLog()).map(({ event }) => event.type);
    const since = types.indexOf("turn.paused");
    expect(types.slice(since, since + 5)).toEqual([
      "turn.paused",
      "tool_results.submitted",
      "tool.finished",
      "message.sent",
      "invocation.started",
    ]);
    for (const type of ["policy.decided", "tool_call.paths_resolved", "tool.started"] as const) {
      expect(types).not.toContain(type);
    }
    expect(await world.waitForEvent("prompt.accepted")).toMatchObject({
      options,
      note: { mine: true },
    });
    expect(await world.waitForEvent("tool_results.submitted")).toMatchObject({
      turnId,
      note: { second: true },
    });
    expect(await world.waitForEvent("tool.finished")).toMatchObject({ ending: "succeeded" });
  });

  it("A prompter's tool is offered along with the agent's tools, in its own turn only", async () => {
    const work = createTool({ name: "work" }, () => "done");
    const { world, provider } = await paused(undefined, { tools: [work] });
    await world.send({
      type: "submit-results",
      results: [createResult((await handedOut(world))[0] ?? "")],
    });
    await world.waitForEvent("turn.finished");
    await world.prompt("Thanks");
    await world.waitForEvent("turn.finished", 2);
    const offered = provider.invocations.map((call) =>
      call.options?.tools?.map(({ name }) => name),
    );
    expect(offered).toEqual([["work", "weather"], ["work", "weather"], ["work"]]);
  });

  it("The turn pauses only when every other call of its step is finished [OR-54]", async () => {
    let finish = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const work = createTool({ name: "work" }, () => gate);
    const provider = createScriptedProvider(
      [wants({ id: "c1", name: "weather" }, { id: "c2", name: "work" }), says("Done.")],
      { capabilities: TAKES },
    );
    const world = await openWorld(createAgent({ provider, tools: [work] }));
    await world.send({ type: "prompt", content, options });
    await world.waitForEvent("tool.started");
    expect(await world.listEvents("turn.paused")).toEqual([]);
    const early = await world.send({ type: "submit-results", results: [] });
    expect(early).toMatchObject({ failure: { code: "resume_mismatch" } });
    finish();
    const { toolCallIds } = await world.waitForEvent("turn.paused");
    expect(toolCallIds).toHaveLength(1);
    await world.send({
      type: "submit-results",
      results: toolCallIds.map((id) => createResult(id)),
    });
    await world.waitForEvent("turn.finished");
    expect(provider.invocations[1]?.input).toMatchObject({
      results: [{ toolCallId: "c1" }, { toolCallId: "c2" }],
    });
    expect(await world.listEvents("turn.paused")).toHaveLength(1);
  });

  it("A call is handed out whatever its schema says, unless its arguments are not a JSON object", async () => {
    const strict = { ...weather, schema: { type: "object", required: ["city"] } };
    const calls = wants(
      { id: "c1", name: "weather", input: { wrong: true } },
      { id: "c2", name: "weather", inputText: "[1]" },
      { id: "c3", name: "weather", inputText: '{"city":' },
    );
    const provider = createScriptedProvider([calls, says("Oh.")], { capabilities: TAKES });
    const world = await openWorld(createAgent({ provider }));
    await world.send({ type: "prompt", content, options: { tools: [strict] } });
    const { toolCallIds } = await world.waitForEvent("turn.paused");
    const [first] = await world.listEvents("tool_call.received");
    expect(toolCallIds).toEqual([first?.toolCallId]);
    expect(await world.listEvents("tool.finished")).toMatchObject([
      { ending: "refused", result: { toolCallId: "c2", isError: true } },
      { ending: "refused", result: { toolCallId: "c3", isError: true } },
    ]);
  });

  it("A submitted error ends the call as failed", async () => {
    const { world, provider } = await paused();
    const [id = ""] = await handedOut(world);
    await world.send({ type: "submit-results", results: [createResult(id, "No network", true)] });
    expect(await world.waitForEvent("tool.finished")).toMatchObject({ ending: "failed" });
    await world.waitForEvent("turn.finished");
    expect(provider.invocations[1]?.input).toMatchObject({ results: [{ isError: true }] });
  });
});

describe("Results of a paused turn", () => {
  it("Missing, unknown or repeated results are refused and named, without any change [OR-53]", async () => {
    const two = wants({ id: "c1", name: "weather" }, { id: "c2", name: "weather" });
    const { world } = await paused([two, says("Yes.")]);
    const [one = "", other = ""] = await handedOut(world);
    const before = await world.readLog();
    const give = (...ids: readonly string[]) =>
      world.send({ type: "submit-results", results: ids.map((id) => createResult(id)) });
    expect(await give(one)).toMatchObject({
      failure: {
        code: "resume_mismatch",
        message: expect.stringContaining(`missing: ${other}`),
        details: { missing: [other] },
      },
    });
    expect(await give(one, other, "tool_none")).toMatchObject({
      failure: { code: "resume_mismatch", details: { unknown: ["tool_none"] } },
    });
    expect(await give(one, other, one)).toMatchObject({
      failure: { code: "resume_mismatch", details: { repeated: [one] } },
    });
    expect(await world.readLog()).toEqual(before);
    expect(await give(other, one)).toMatchObject({ status: "accepted" });
    expect(await give(one, other)).toMatchObject({ failure: { code: "resume_mismatch" } });
  });

  it("Results are accepted from the prompting principal, or from one with the right to control", async () => {
    const provider = createScriptedProvider([asksWeather, says("Yes.")], { capabilities: TAKES });
    const world = await openWorld(createAgent({ provider }));
    await world.send({ type: "prompt", content, options }, { principal: GUEST });
    const { toolCallIds } = await world.waitForEvent("turn.paused");
    const command = {
      type: "submit-results",
      results: toolCallIds.map((id) => createResult(id)),
    } as const;
    const other = { id: "other", rights: ["prompt", "approve"] } as const;
    expect(await world.send(command, { principal: other })).toMatchObject({
      failure: { code: "access_denied" },
    });
    expect(await world.send(command, { principal: CONTROLLER })).toMatchObject({
      status: "accepted",
    });
    // A late submission is refused as a conflict, not for missing rights.
    expect(await world.send(command, { principal: GUEST })).toMatchObject({
      failure: { code: "resume_mismatch" },
    });
  });

  it("Repeated results with one command id are accepted once", async () => {
    const { world } = await paused();
    const results = (await handedOut(world)).map((id) => createResult(id));
    const give = () => world.send({ type: "submit-results", results }, { commandId: "once" });
    const first = await give();
    expect(await give()).toEqual(first);
    expect(await world.listEvents("tool_results.submitted")).toHaveLength(1);
  });

  it("The size of results is limited", async () => {
    const { world } = await paused();
    const [id = ""] = await handedOut(world);
    const large = createResult(id, "x".repeat(4 * 1024 * 1024));
    expect(await world.send({ type: "submit-results", results: [large] })).toMatchObject({
      failure: { code: "invalid_message" },
    });
  });

  it("Text submitted with results becomes the next prompt if the provider cannot accept it with them", async () => {
    const provider = createScriptedProvider([asksWeather, says("It rains."), says("Sun.")], {
      capabilities: TAKES,
      injectionPoints: ["turn-start", "turn-end"],
    });
    const world = await openWorld(createAgent({ provider }));
    await world.send({ type: "prompt", content, options });
    const { toolCallIds } = await world.waitForEvent("turn.paused");
    const results = toolCallIds.map((id) => createResult(id));
    const tomorrow = [{ type: "text", text: "And tomorrow?" }] as const;
    await world.send({ type: "submit-results", results, content: tomorrow });
    await world.waitForEvent("turn.finished", 2);
    expect(provider.invocations.map(({ input }) => input.texts)).toEqual([
      ["Will it rain?"],
      undefined,
      ["And tomorrow?"],
    ]);
  });
});

describe("A paused turn", () => {
  it("A pause survives a kill and continues afterwards [W-32]", async () => {
    const { world, provider } = await paused();
    const before = await world.readLog();
    const next = await world.restart();
    expect(await next.sessions.find(next.sessionId)).toMatchObject({ state: "waiting" });
    expect((await next.readLog()).slice(0, before.length)).toEqual(before);
    expect(await next.listEvents("turn.paused")).toHaveLength(1);
    const results = (await handedOut(next)).map((id) => createResult(id));
    expect(await next.send({ type: "submit-results", results })).toMatchObject({
      status: "accepted",
    });
    expect(await next.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
    expect(provider.invocations).toHaveLength(2);
    expect(provider.invocations[1]?.options?.tools).toMatchObject([{ name: "weather" }]);
  });

  it("A new prompt waits for the paused turn, and does not restart it", async () => {
    const { world, provider } = await paused();
    const second = await world.prompt("Something else");
    expect(second).toEqual({
      status: "accepted",
      promptId: expect.any(String),
      seq: expect.any(Number),
    });
    expect(provider.invocations).toHaveLength(1);
    const results = (await handedOut(world)).map((id) => createResult(id));
    await world.send({ type: "submit-results", results });
    await world.waitForEvent("turn.finished", 2);
    expect(provider.invocations[2]?.input.texts).toEqual(["Something else"]);
  });

  it("A cancel ends a paused turn, and the agent learns of the missing result with the next prompt", async () => {
    const { world, provider } = await paused();
    await world.cancel();
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "cancelled" });
    expect(await world.waitForEvent("tool.finished")).toMatchObject({
      ending: "cancelled",
      result: { parts: [{ text: expect.stringContaining("No result of weather arrived") }] },
    });
    await world.prompt("Never mind");
    await world.waitForEvent("turn.finished", 2);
    expect(provider.invocations[1]?.input).toMatchObject({
      type: "results",
      results: [{ toolCallId: "c1", isError: true }],
      texts: ["Never mind"],
    });
  });

  it("A pause does not count as turn time", async () => {
    const clock = createFakeClock();
    const provider = createScriptedProvider([asksWeather, says("Yes.")], { capabilities: TAKES });
    const agent = createAgent({ provider, caps: { seconds: 60 } });
    const world = await openWorld(agent, { clock });
    await world.send({ type: "prompt", content, options });
    const { toolCallIds } = await world.waitForEvent("turn.paused");
    clock.advance(3_600_000);
    await world.send({
      type: "submit-results",
      results: toolCallIds.map((id) => createResult(id)),
    });
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
  });

  it.each([
    ["a day", {}, 86_400_000],
    ["the configured time", { resultsMs: 5000 }, 5000],
  ])("A pause waits for %s, then the turn ends as limited", async (_, parts, wait) => {
    const clock = createFakeClock();
    const provider = createScriptedProvider([asksWeather, says("Yes.")], { capabilities: TAKES });
    const world = await openWorld(createAgent({ provider, ...parts }), { clock });
    await world.send({ type: "prompt", content, options });
    await world.waitForEvent("turn.paused");
    clock.advance(wait - 1);
    expect(await world.listEvents("turn.finished")).toEqual([]);
    clock.advance(1);
    expect(await world.waitForEvent("turn.finished")).toMatchObject({
      outcome: "limited",
      reason: "results_missing",
    });
  });

  it("A paused session is not evicted, so its deadline is kept", async () => {
    const clock = createFakeClock();
    const provider = createScriptedProvider([asksWeather, says("Yes.")], { capabilities: TAKES });
    const world = await openWorld(createAgent({ provider }), { clock });
    await world.send({ type: "prompt", content, options });
    const { toolCallIds } = await world.waitForEvent("turn.paused");
    for (let minute = 0; minute < 30; minute++) clock.advance(60_000);
    await world.send({
      type: "submit-results",
      results: toolCallIds.map((id) => createResult(id)),
    });
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
    expect(await world.listEvents("session.recovered")).toEqual([]);
  });

  it("A turn can pause repeatedly", async () => {
    const again = wants({ id: "c2", name: "weather" });
    const { world } = await paused([asksWeather, again, says("Both.")]);
    for (const nth of [1, 2]) {
      const { toolCallIds } = await world.waitForEvent("turn.paused", nth);
      await world.send({
        type: "submit-results",
        results: toolCallIds.map((id) => createResult(id)),
      });
    }
    expect(await world.waitForEvent("turn.finished")).toMatchObject({
      outcome: "completed",
      steps: 3,
    });
  });
});
