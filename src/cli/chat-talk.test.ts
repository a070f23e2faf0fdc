import { describe, expect, it, onTestFinished } from "vitest";
import { createClient, type SeenUpdate } from "../host/index.ts";
import { scriptedRuntime, type ScriptedTurn } from "../host/testing.ts";
import { openTalk, type TurnEnd } from "./chat-talk.ts";
import { chatTurns } from "./chat-turns.ts";

/** A talk with an agent whose turns end when the test says so. */
async function talking() {
  const turns: { readonly turn: ScriptedTurn; readonly end: () => void }[] = [];
  let begun = (): void => {};
  const runtime = scriptedRuntime({
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
  const seen = chatTurns();
  const began: string[] = [];
  const ends: TurnEnd[] = [];
  const events = {
    opening() {},
    began: (text: string) => void began.push(text),
    ended: (end: TurnEnd) => void ends.push(end),
  };
  const talk = await openTalk(client, {}, { events, turns: seen });
  return {
    talk,
    began,
    ends,
    turns,
    /** What the session says. */
    tell: (update: SeenUpdate) => {
      seen.told({ update });
      talk.goOn();
    },
    /** Resolves when so many turns have begun. */
    turn: async (count: number) => {
      while (turns.length < count) await new Promise<void>((resolve) => (begun = resolve));
    },
  };
}

describe("a chat's talk with an agent", () => {
  it("keeps what is said while a turn runs, and says it afterwards in order", async () => {
    const { talk, began, ends, turns, turn } = await talking();
    for (const text of ["one", "two", "three"]) talk.say(text);
    await turn(1);
    expect([began, talk.queued]).toEqual([["one"], ["two", "three"]]);
    turns[0]?.end();
    await turn(2);
    expect([began, talk.queued]).toEqual([["one", "two"], ["three"]]);
    turns[1]?.end();
    await turn(3);
    turns[2]?.end();
    await talk.idle();
    expect(ends.map(({ type }) => type)).toEqual(["done", "done", "done"]);
    expect(talk.isBusy).toBe(false);
  });

  it("takes back what waits when the turn is cancelled", async () => {
    const { talk, began, ends, turn } = await talking();
    talk.say("one");
    talk.say("two");
    await turn(1);
    expect(talk.takeBack()).toEqual(["two"]);
    await talk.cancel();
    await talk.idle();
    expect(began).toEqual(["one"]);
    expect(ends).toEqual([{ type: "done", result: { reason: "cancelled", usage: null } }]);
  });

  it("keeps what is said while a turn of others runs, until everybody is told that it is over", async () => {
    const { talk, began, turns, turn, tell } = await talking();
    tell({ type: "user-text", messageId: "m1", text: "Go", content: [] });
    talk.say("one");
    expect([talk.isBusy, talk.isPrompting, talk.queued, began]).toEqual([true, false, ["one"], []]);
    const result = { reason: "end_turn", usage: null } as const;
    const ended = { turnId: "t1", clientId: "other", end: { type: "done", result } } as const;
    tell({ type: "info", turn: ended });
    await turn(1);
    expect([talk.isPrompting, talk.queued, began]).toEqual([true, [], ["one"]]);
    turns[0]?.end();
    await talk.idle();
    expect(talk.isBusy).toBe(false);
  });

  it("is free after an answer that no turn gave", async () => {
    const { talk, turns, turn, tell } = await talking();
    talk.say("/status");
    await turn(1);
    tell({ type: "agent-text", messageId: "m1", text: "All is well.", content: [] });
    turns[0]?.end();
    await talk.idle();
    expect(talk.isBusy).toBe(false);
  });
});
