import { describe, expect, it, onTestFinished } from "vitest";
import { createResilientSessions } from "../../../src/session/remote/resilient-sessions.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import type { SessionCommand } from "../../../src/domain/session-command.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import type { Sessions } from "../../../src/session/sessions.ts";
import { eventually } from "../../support/eventually.ts";
import { says, createScriptedProvider } from "../../support/session/scripted-provider.ts";
import { createAgent, ME, openWorld } from "../../support/session/session-world.ts";

type Attach = Extract<SessionCommand, { readonly type: "attach" }>;

const from = (clientId: string) => ({ principal: ME, clientId });

function attach(clientId: string, attachmentId: string, more: Partial<Attach> = {}): Attach {
  return { type: "attach", clientId, attachmentId, mode: "controller", name: "editor", ...more };
}

/** A process which joined one owner and then another with the same log; records the attaches sent to the second. */
async function joinedProcess({ isFollowing = true } = {}) {
  const { sessions: owned, sessionId } = await openWorld(
    createAgent({ provider: createScriptedProvider([says("Hi")]) }),
  );
  const sent: Attach[] = [];
  const dying = new AbortController();
  const second: Sessions = {
    ...owned,
    command(id, command, sender) {
      if (command.type === "attach") sent.push(command);
      return owned.command(id, command, sender);
    },
  };
  const { signal: never } = new AbortController();
  const owners = [
    { sessions: owned, closed: dying.signal },
    { sessions: second, closed: never },
  ];
  const sessions = createResilientSessions({
    clock: systemClock,
    connect: async () => owners.shift() ?? Promise.reject(new Error("no more")),
  });
  const receivedEvents: Envelope[] = [];
  const leaving = new AbortController();
  const follow = async (): Promise<void> => {
    for await (const { events } of sessions.subscribe(sessionId, undefined, leaving.signal))
      receivedEvents.push(...events);
  };
  onTestFinished(async () => {
    leaving.abort();
    await following;
  });
  const following = isFollowing ? follow() : undefined;
  return {
    sessions,
    owned,
    sessionId,
    /** Resolves when the process has read the whole log. */
    caughtUp: async (): Promise<void> => {
      const { seq } = (await owned.find(sessionId)) ?? { seq: Number.NaN };
      await eventually(() => expect(receivedEvents.at(-1)?.seq).toBe(seq));
    },
    /** The roles in which the clients are attached to the next owner. */
    ownerDies: async () => {
      dying.abort();
      await sessions.find(sessionId);
      return sent.map(({ clientId, mode, takeOver }) => ({ clientId, mode, takeOver }));
    },
  };
}

describe("A client whose owner dies", () => {
  it("A client is attached to the next owner in its role, and never takes over", async () => {
    const { sessions, sessionId, caughtUp, ownerDies } = await joinedProcess();
    await sessions.command(sessionId, attach("a", "a1"), from("a"));
    await sessions.command(sessionId, attach("b", "b1", { takeOver: true }), from("b"));
    await caughtUp();
    expect(await ownerDies()).toEqual([
      { clientId: "a", mode: "observer", takeOver: undefined },
      { clientId: "b", mode: "controller", takeOver: undefined },
    ]);
  });

  it("A client is attached as observer if a client of another process took over in the meantime", async () => {
    const { sessions, owned, sessionId, caughtUp, ownerDies } = await joinedProcess();
    const taking = { takeOver: true };
    await sessions.command(sessionId, attach("a", "a1", taking), from("a"));
    await owned.command(sessionId, attach("c", "c1", taking), from("c"));
    await caughtUp();
    expect(await ownerDies()).toEqual([{ clientId: "a", mode: "observer", takeOver: undefined }]);
    const { clients } = await owned.status(sessionId);
    expect(clients.find(({ role }) => role === "controller")?.clientId).toBe("c");
  });

  it("A client refused as controller by the next owner is attached as observer", async () => {
    // This process does not follow the session, so the takeover by another client is not noticed.
    const { sessions, owned, sessionId, ownerDies } = await joinedProcess({ isFollowing: false });
    await sessions.command(sessionId, attach("a", "a1"), from("a"));
    await owned.command(sessionId, attach("c", "c1", { takeOver: true }), from("c"));
    expect(await ownerDies()).toEqual([
      { clientId: "a", mode: "controller", takeOver: undefined },
      { clientId: "a", mode: "observer", takeOver: undefined },
    ]);
    const { clients } = await owned.status(sessionId);
    expect(clients.map(({ clientId, role: mode }) => [clientId, mode])).toEqual([
      ["c", "controller"],
      ["a", "observer"],
    ]);
  });

  it("A client which was detached, or attached elsewhere since, is not attached again", async () => {
    const { sessions, owned, sessionId, caughtUp, ownerDies } = await joinedProcess();
    const watching = { mode: "observer" } as const;
    await sessions.command(sessionId, attach("a", "a0", watching), from("a"));
    await owned.command(
      sessionId,
      { type: "detach", clientId: "a", reason: "operator" },
      from("c"),
    );
    const bound = { ...watching, secretDigest: "d" };
    await sessions.command(sessionId, attach("b", "b1", bound), from("b"));
    await owned.command(sessionId, attach("b", "b2", bound), from("b"));
    await caughtUp();
    expect(await ownerDies()).toEqual([]);
  });

  it("A client which attached again after being detached is attached to the next owner", async () => {
    const { sessions, owned, sessionId, caughtUp, ownerDies } = await joinedProcess();
    await sessions.command(sessionId, attach("a", "a0"), from("a"));
    await owned.command(
      sessionId,
      { type: "detach", clientId: "a", reason: "operator" },
      from("c"),
    );
    await sessions.command(sessionId, attach("a", "a1"), from("a"));
    await caughtUp();
    expect(await ownerDies()).toEqual([{ clientId: "a", mode: "controller", takeOver: undefined }]);
  });
});
