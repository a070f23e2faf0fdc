import { describe, expect, it, onTestFinished } from "vitest";
import { createClient, type SessionUpdate } from "../../host/index.ts";
import { createScriptedRuntime, type ScriptedTurn } from "../../host/testing.ts";
import { openChatSession, type ChatTurnEnd } from "./session.ts";
import { createChatTurns } from "./chat-turns.ts";

/** Opens a session with a scripted agent whose turns end on request. */
async function talking() {
  const turns: { readonly turn: ScriptedTurn; readonly end: () => void }[] = [];
  let begun = (): void => {};
  const runtime = createScriptedRuntime({
    turn: (turn) =>
      new Promise<void>((resolve) => {
        turns.push({ turn, end: resolve });
        turn.signal.addEventListener("abort", () => resolve());
        begun();
      }),
    answer: (method) => (method === "session/attach" ? { clients: [] } : undefined),
  });
  const client = createClient(runtime.connect);
  onTestFinished(() => client.close());
  const seen = createChatTurns();
  const onPromptSent: string[] = [];
  const ends: ChatTurnEnd[] = [];
  const events = {
    onOpening() {},
    onPromptSent: (text: string) => void onPromptSent.push(text),
    onTurnEnd: (end: ChatTurnEnd) => void ends.push(end),
  };
  const talk = await openChatSession(client, {}, { cwd: process.cwd(), events, turns: seen });
  return {
    talk,
    onPromptSent,
    ends,
    turns,
    /** Delivers an update of the session. */
    tell: (update: SessionUpdate) => {
      seen.update({ update });
      talk.submitNext();
    },
    /** Resolves when this number of turns has started. */
    turn: async (count: number) => {
      while (turns.length < count) await new Promise<void>((resolve) => (begun = resolve));
    },
  };
}

describe("A chat session with an agent", () => {
  it("Prompts submitted during a turn are queued and sent in order", async () => {
    const { talk, onPromptSent: began, ends, turns, turn } = await talking();
    for (const text of ["one", "two", "three"]) talk.submit(text);
    await turn(1);
    expect([began, talk.queued]).toEqual([["one"], ["two", "three"]]);
    turns[0]?.end();
    await turn(2);
    expect([began, talk.queued]).toEqual([["one", "two"], ["three"]]);
    turns[1]?.end();
    await turn(3);
    turns[2]?.end();
    await talk.whenIdle();
    expect(ends.map(({ type }) => type)).toEqual(["done", "done", "done"]);
    expect(talk.isBusy).toBe(false);
  });

  it("A cancelled turn leaves queued prompts unsent", async () => {
    const { talk, onPromptSent: began, ends, turn } = await talking();
    talk.submit("one");
    talk.submit("two");
    await turn(1);
    expect(talk.clearQueue()).toEqual(["two"]);
    await talk.cancel();
    await talk.whenIdle();
    expect(began).toEqual(["one"]);
    expect(ends).toEqual([{ type: "done", result: { reason: "cancelled", usage: null } }]);
  });

  it("Prompts during another client's turn are queued until its end is reported", async () => {
    const { talk, onPromptSent: began, turns, turn, tell } = await talking();
    tell({ type: "user-text", messageId: "m1", text: "Go", content: [] });
    talk.submit("one");
    expect([talk.isBusy, talk.isPrompting, talk.queued, began]).toEqual([true, false, ["one"], []]);
    const result = { reason: "end_turn", usage: null } as const;
    const ended = { turnId: "t1", clientId: "other", end: { type: "done", result } } as const;
    tell({ type: "info", turn: ended });
    await turn(1);
    expect([talk.isPrompting, talk.queued, began]).toEqual([true, [], ["one"]]);
    turns[0]?.end();
    await talk.whenIdle();
    expect(talk.isBusy).toBe(false);
  });

  it("A session is idle after a reply without a turn", async () => {
    const { talk, turns, turn, tell } = await talking();
    talk.submit("/status");
    await turn(1);
    tell({ type: "agent-text", messageId: "m1", text: "All is well.", content: [] });
    turns[0]?.end();
    await talk.whenIdle();
    expect(talk.isBusy).toBe(false);
  });
});
