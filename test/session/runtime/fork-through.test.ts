import { expect, it } from "vitest";
import { createScriptedProvider, says, wants } from "../../support/session/scripted-provider.ts";
import { createAgent, createTool, ME, openWorld } from "../../support/session/session-world.ts";
import { waitUntil } from "../../support/with-deadline.ts";

it("A copy through an event ends with the messages complete at the event, or with its invocation", async () => {
  const provider = createScriptedProvider([says("One."), says("Two."), says("Three.")]);
  const world = await openWorld(createAgent({ provider }));
  for (const [at, text] of ["First", "Second", "Third"].entries()) {
    await world.prompt(text);
    await world.waitForEvent("turn.finished", at + 1);
  }
  const log = await world.readLog();
  const find = (type: string, nth: number): number =>
    log.filter(({ event }) => event.type === type)[nth - 1]?.seq ?? 0;
  const copy = async (copyThrough: number): Promise<readonly string[]> => {
    const { sessions, sessionId } = world;
    const copied = await sessions.open({ principal: ME, copyOf: sessionId, copyThrough });
    const history = await sessions.readHistory(copied.sessionId, copied.seq);
    return history.flatMap(({ blocks }) =>
      blocks.map((block) => (block.type === "text" ? block.text : block.type)),
    );
  };
  expect(await copy(find("prompt.accepted", 2))).toEqual(["First", "One."]);
  expect(await copy(find("text.delta", 2))).toEqual(["First", "One.", "Second", "Two."]);
  expect(await copy(find("turn.finished", 2))).toEqual(["First", "One.", "Second", "Two."]);
  expect(await copy(find("turn.finished", 3))).toHaveLength(6);
  expect(await copy(1)).toEqual([]);
});

it("A copy through the result of a tool has the tool call with its result, and the agent receives both", async () => {
  const provider = createScriptedProvider([
    wants({ id: "c1", name: "look" }),
    says("Seen."),
    says("Continued."),
  ]);
  const world = await openWorld(
    createAgent({ provider, tools: [createTool({ name: "look" }, () => "a tree")] }),
  );
  await world.prompt("Look.");
  await world.waitForEvent("turn.finished");
  const log = await world.readLog();
  const find = (type: string): number => log.find(({ event }) => event.type === type)?.seq ?? 0;
  const { sessions, sessionId } = world;
  const copy = async (copyThrough: number) => {
    const copied = await sessions.open({ principal: ME, copyOf: sessionId, copyThrough });
    const history = await sessions.readHistory(copied.sessionId, copied.seq);
    return { copied, types: history.flatMap(({ blocks }) => blocks.map(({ type }) => type)) };
  };
  expect((await copy(find("tool_call.received"))).types).toEqual(["text"]);
  const { copied, types } = await copy(find("tool.finished"));
  expect(types).toEqual(["text", "text", "tool-call", "tool-result"]);

  const content = [{ type: "text", text: "And then?" }] as const;
  await sessions.command(copied.sessionId, { type: "prompt", content }, { principal: ME });
  await waitUntil(() => provider.invocations.length === 3);
  expect(provider.invocations[2]?.history.map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "user",
  ]);
});
