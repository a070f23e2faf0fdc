import { describe, expect, it, onTestFinished } from "vitest";
import type { SubmittedPart } from "../../../src/domain/session-command.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { createSessions } from "../../../src/session/runtime/create-sessions.ts";
import type { FirstPrompt } from "../../../src/session/sessions.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { hangs, createScriptedProvider } from "../../support/session/scripted-provider.ts";
import { createAgent, ME } from "../../support/session/session-world.ts";

const GO: SubmittedPart = { type: "text", text: "Go" };
const sessionId = "ses_begun";

/** Sessions on a store which counts appends. */
function world() {
  const inner = createMemoryStore();
  const appended: number[] = [];
  const store: Store = {
    ...inner,
    append(lease, seq, entry) {
      appended.push(entry.events.length);
      return inner.append(lease, seq, entry);
    },
  };
  const provider = createScriptedProvider([hangs(), hangs()], { capabilities: { images: true } });
  const agents = [createAgent({ provider })];
  const sessions = createSessions({ store, agents, clock: systemClock, owner: "test" });
  onTestFinished(() => sessions.close());
  const types = async (): Promise<string[]> =>
    (await store.read(sessionId, 0, 100)).map(({ event }) => event.type);
  return { sessions, store, appended, types };
}

function first(content: readonly SubmittedPart[] = [GO], commandId?: string): FirstPrompt {
  const named = commandId === undefined ? {} : { commandId };
  return { sender: { principal: ME, ...named }, createPrompt: () => ({ type: "prompt", content }) };
}

describe("A session opened with a prompt", () => {
  it("Opening, prompting and starting the invocation are one entry of the log", async () => {
    const { sessions, store, appended } = world();
    const begun = await sessions.openWithPrompt({ sessionId, principal: ME }, first());
    expect(begun).toMatchObject({ sessionId, principal: ME.id, seq: 0 });
    expect(begun.reply).toMatchObject({ status: "accepted", turnId: expect.any(String), seq: 3 });
    const [count = 0] = appended;
    const log = await store.read(sessionId, 0, count);
    expect(log.map(({ event }) => event.type)).toEqual([
      "session.opened",
      "agent.configured",
      "prompt.accepted",
      "turn.started",
      "message.sent",
      "upstream.opened",
      "invocation.started",
    ]);
    // The prompter is the actor of every event from the prompt on.
    const named = log.filter(({ actor }) => actor?.principal === ME.id);
    expect(named).toEqual(log.slice(2));
    expect(begun.incarnation).toBe((await store.findSession(sessionId))?.incarnation);
  });

  it("No session is opened if its prompt cannot be created, which receives the agent's capabilities", async () => {
    const { sessions, store } = world();
    const seen: string[] = [];
    const refusing: FirstPrompt = {
      sender: { principal: ME },
      createPrompt({ name }) {
        seen.push(name);
        throw new Error("Not so");
      },
    };
    await expect(sessions.openWithPrompt({ sessionId, principal: ME }, refusing)).rejects.toThrow(
      "Not so",
    );
    expect(seen).toEqual(sessions.agents);
    expect(await store.findSession(sessionId)).toBeUndefined();
  });

  it("A refused prompt leaves the session open and idle", async () => {
    const { sessions, types } = world();
    const { reply } = await sessions.openWithPrompt({ sessionId, principal: ME }, first([]));
    expect(reply).toMatchObject({ status: "refused" });
    expect(await types()).toEqual(["session.opened", "agent.configured"]);
  });

  it("Repeated opening under the same ids prompts once", async () => {
    const { sessions, types } = world();
    const again = () => sessions.openWithPrompt({ sessionId, principal: ME }, first([GO], "one"));
    const [one, two] = await Promise.all([again(), again()]);
    const three = await again();
    expect([two.reply, three.reply]).toEqual([one.reply, one.reply]);
    expect(three.seq).toBeGreaterThanOrEqual(3);
    expect((await types()).filter((type) => type === "prompt.accepted")).toHaveLength(1);
  });

  it("Another principal's session is not prompted", async () => {
    const { sessions, types } = world();
    await sessions.open({ sessionId, principal: { ...ME, id: "somebody" } });
    const begun = await sessions.openWithPrompt({ sessionId, principal: ME }, first());
    expect(begun.reply).toBeUndefined();
    expect(await types()).toEqual(["session.opened", "agent.configured"]);
  });

  it("The session exists before the images of its prompt are stored", async () => {
    const { sessions, types } = world();
    const picture = { type: "image", mediaType: "image/png", base64: "AAAA" } as const;
    const { reply } = await sessions.openWithPrompt(
      { sessionId, principal: ME },
      first([GO, picture]),
    );
    expect(reply).toMatchObject({ status: "accepted" });
    expect(await types()).toContain("invocation.started");
  });
});
