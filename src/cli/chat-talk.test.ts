import { describe, expect, it, onTestFinished } from "vitest";
import { createClient } from "../host/index.ts";
import { scriptedRuntime, type ScriptedTurn } from "../host/testing.ts";
import { openTalk, type TurnEnd } from "./chat-talk.ts";

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
  const began: string[] = [];
  const ends: TurnEnd[] = [];
  const talk = await openTalk(
    client,
    {},
    { opening() {}, began: (text) => began.push(text), ended: (end) => ends.push(end) },
  );
  return {
    talk,
    began,
    ends,
    turns,
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
    expect(await talk.cancel()).toEqual(["two"]);
    await talk.idle();
    expect(began).toEqual(["one"]);
    expect(ends).toEqual([{ type: "done", result: { reason: "cancelled", usage: null } }]);
  });
});
