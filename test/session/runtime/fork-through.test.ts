import { expect, it } from "vitest";
import { createScriptedProvider, says } from "../../support/session/scripted-provider.ts";
import { createAgent, ME, openWorld } from "../../support/session/session-world.ts";

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
