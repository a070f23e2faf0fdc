import { expect, it, onTestFinished } from "vitest";
import { lastingSubscription } from "../../src/bridge/link/lasting-subscription.ts";
import type { Sessions } from "../../src/session/sessions.ts";
import { says, scriptedProvider } from "../support/scripted-provider.ts";
import { agentOf, worldOf } from "../support/session-world.ts";
import { within } from "../support/within.ts";

it("A subscription continues with the next owner after the last event that it delivered", async () => {
  const world = await worldOf(agentOf({ provider: scriptedProvider([says("One"), says("Two")]) }));
  await world.prompt("Hi");
  await world.event("turn.finished");
  const before = (await world.log()).length;

  // The first owner's stream ends with its process.
  const dying = new AbortController();
  const first: Sessions = {
    ...world.sessions,
    subscribe: (sessionId, cursor, signal) =>
      world.sessions.subscribe(sessionId, cursor, AbortSignal.any([signal, dying.signal])),
  };
  const { signal: never } = new AbortController();
  const owners = [
    { sessions: first, gone: dying.signal },
    { sessions: world.sessions, gone: never },
  ];
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const batches = lastingSubscription({
    sessionId: world.sessionId,
    cursor: undefined,
    signal: leaving.signal,
    joined: async () => owners.shift() ?? Promise.reject(new Error("There is no third owner")),
    heard: () => undefined,
  });

  const seqs: number[] = [];
  const read = async (until: number): Promise<void> => {
    while ((seqs.at(-1) ?? 0) < until) {
      const { value } = await within(batches.next(), () => `read: ${seqs.join(" ")}`);
      seqs.push(...(value?.events ?? []).map(({ seq }: { readonly seq: number }) => seq));
    }
  };
  await read(before);
  dying.abort();
  await world.prompt("Hi again");
  await world.event("turn.finished", 2);
  const after = (await world.log()).length;
  await read(after);
  expect(seqs).toEqual(Array.from({ length: after }, (_, index) => index + 1));
});
