import { describe, expect, it } from "vitest";
import type { ModelMessage } from "../../../src/domain/model/model-request.ts";
import { hangs, says, createScriptedProvider } from "../../support/session/scripted-provider.ts";
import { createAgent, ME, readUntil, openSessions } from "../../support/session/session-world.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { OpenOptions } from "../../../src/session/sessions.ts";

const HISTORY: readonly ModelMessage[] = [
  { role: "user", blocks: [{ type: "text", text: "My name is Ada." }] },
  { role: "assistant", blocks: [{ type: "text", text: "Hello Ada." }] },
];
const OWN_ID = "conversation-0123456789-0123456789";

async function prompted(opening: Partial<OpenOptions>, keepsHistory = true) {
  const provider = createScriptedProvider([says("Ada."), says("Still Ada.")], { keepsHistory });
  const sessions = openSessions(createMemoryStore(), createAgent({ provider }));
  const { sessionId } = await sessions.open({ principal: ME, ...opening });
  for (const nth of [1, 2]) {
    const content = [{ type: "text", text: `Who am I? ${nth}` }] as const;
    await sessions.command(sessionId, { type: "prompt", content }, { principal: ME });
    let ended = 0;
    await readUntil(sessions, sessionId, ({ event }) => {
      if (event.type === "turn.finished") ended += 1;
      return ended === nth;
    });
  }
  const log = await readUntil(sessions, sessionId, ({ event }) => event.type === "turn.finished");
  return { provider, sessions, sessionId, types: log.map(({ event }) => event.type) };
}

describe("Imported history", () => {
  it("Imported history is logged, and sent with the first invocation only", async () => {
    const { provider, types } = await prompted({ history: HISTORY });
    expect(types.slice(0, 3)).toEqual(["session.opened", "agent.configured", "history.imported"]);
    expect(provider.invocations.map(({ history }) => history)).toEqual([HISTORY, []]);
    expect(provider.invocations.map(({ input }) => input.texts)).toEqual([
      ["Who am I? 1"],
      ["Who am I? 2"],
    ]);
  });

  it("A stateless provider gets imported history with every invocation", async () => {
    const { provider } = await prompted({ history: HISTORY }, false);
    expect(provider.invocations[0]?.history).toEqual(HISTORY);
    expect(provider.invocations[1]?.history.slice(0, 2)).toEqual(HISTORY);
    expect(provider.invocations[1]?.history).toHaveLength(4);
  });

  it("The size of imported history is limited", async () => {
    const sessions = openSessions(
      createMemoryStore(),
      createAgent({ provider: createScriptedProvider([hangs()]) }),
    );
    const [message] = HISTORY;
    const many = Array.from({ length: 2001 }, () => message ?? HISTORY[0]);
    const large = [{ role: "user", blocks: [{ type: "text", text: "x".repeat(4_200_000) }] }];
    for (const history of [many, large]) {
      const opening = { principal: ME, history: history as readonly ModelMessage[] };
      await expect(sessions.open(opening)).rejects.toMatchObject({
        code: "invalid_option",
        details: { path: "history" },
      });
    }
    expect(await sessions.list({ limit: 9 })).toEqual({ sessions: [] });
  });
});

describe("The id of a session", () => {
  it("A session id in the provider's format is the id of its first upstream session", async () => {
    const { provider } = await prompted({ sessionId: OWN_ID });
    expect(provider.invocations.map(({ sessionId }) => sessionId)).toEqual([OWN_ID, OWN_ID]);
  });

  it.each([
    ["too short", "ses_0123456789"],
    ["too long", "s".repeat(101)],
    ["not a valid upstream id", `_${"s".repeat(40)}`],
  ])("A session id is not reused for the upstream session if it is %s", async (_, sessionId) => {
    const { provider } = await prompted({ sessionId });
    expect(provider.invocations[0]?.sessionId).toMatch(/^spanline-/);
  });

  it("A session id is not reused with an imported history, since the agent would have both conversations", async () => {
    const { provider } = await prompted({ sessionId: OWN_ID, history: HISTORY });
    expect(provider.invocations[0]?.sessionId).toMatch(/^spanline-/);
  });
});

describe("The label of a session", () => {
  it("A session's label is logged, and the list of sessions can be filtered by label", async () => {
    const { sessions, sessionId } = await prompted({ label: "key-1" });
    await sessions.open({ principal: ME, label: "key-2" });
    const { sessions: found } = await sessions.list({ limit: 9, label: "key-1" });
    expect(found).toMatchObject([{ sessionId, label: "key-1" }]);
    const [first] = await readUntil(sessions, sessionId, () => true);
    expect(first?.event).toMatchObject({ type: "session.opened", label: "key-1" });
    await expect(sessions.open({ principal: ME, label: "x".repeat(257) })).rejects.toMatchObject({
      code: "invalid_option",
    });
  });
});
