import { expect, it, onTestFinished } from "vitest";
import { createResilientSubscription } from "../../../src/session/remote/resilient-subscription.ts";
import type { Sessions } from "../../../src/session/sessions.ts";
import { says, createScriptedProvider } from "../../support/session/scripted-provider.ts";
import { createAgent, openWorld } from "../../support/session/session-world.ts";
import { withDeadline } from "../../support/with-deadline.ts";

it("A subscription continues with the next owner after the last delivered event", async () => {
  const world = await openWorld(
    createAgent({ provider: createScriptedProvider([says("One"), says("Two")]) }),
  );
  await world.prompt("Hi");
  await world.waitForEvent("turn.finished");
  const before = (await world.readLog()).length;

  // The first owner's stream ends with its process.
  const dying = new AbortController();
  const first: Sessions = {
    ...world.sessions,
    subscribe: (sessionId, cursor, signal) =>
      world.sessions.subscribe(sessionId, cursor, AbortSignal.any([signal, dying.signal])),
  };
  const { signal: never } = new AbortController();
  const owners = [
    { sessions: first, closed: dying.signal },
    { sessions: world.sessions, closed: never },
  ];
  const leaving = new AbortController();
  onTestFinished(() => leaving.abort());
  const batches = createResilientSubscription({
    sessionId: world.sessionId,
    cursor: undefined,
    signal: leaving.signal,
    connect: async () => owners.shift() ?? Promise.reject(new Error("A third owner was requested")),
    onEvent: () => undefined,
  });

  const seqs: number[] = [];
  const read = async (until: number): Promise<void> => {
    while ((seqs.at(-1) ?? 0) < until) {
      const { value } = await withDeadline(batches.next(), () => `read: ${seqs.join(" ")}`);
      seqs.push(...(value?.events ?? []).map(({ seq }: { readonly seq: number }) => seq));
    }
  };
  await read(before);
  dying.abort();
  await world.prompt("Hi again");
  await world.waitForEvent("turn.finished", 2);
  const after = (await world.readLog()).length;
  await read(after);
  expect(seqs).toEqual(Array.from({ length: after }, (_, index) => index + 1));
});
