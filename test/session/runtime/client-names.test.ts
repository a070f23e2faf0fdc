import { describe, expect, it } from "vitest";
import type { SessionCommand } from "../../../src/domain/session-command.ts";
import type { Sender } from "../../../src/session/sessions.ts";
import { says, createScriptedProvider } from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  ME,
  openWorld,
  type SessionWorld,
} from "../../support/session/session-world.ts";

const denied = { status: "refused", failure: { code: "access_denied" } };
const accepted = { status: "accepted" };
/** A program with the right to prompt and access to the same sessions. */
const GUEST = { id: ME.id, rights: ["prompt"] } as const;

type Attach = Extract<SessionCommand, { readonly type: "attach" }>;

function attach(attachmentId: string, more: Partial<Attach> = {}): Attach {
  const name = { clientId: "tui", name: "tui" };
  return { type: "attach", ...name, mode: "observer", attachmentId, ...more };
}

/** A sender with the shared client id, and an attachment. */
function speaking(principal: Sender["principal"], attachmentId?: string): Sender {
  return { principal, clientId: "tui", ...(attachmentId !== undefined && { attachmentId }) };
}

function send({ sessions, sessionId }: SessionWorld, command: SessionCommand, from: Sender) {
  return sessions.command(sessionId, command, from);
}

function oneWorld(): Promise<SessionWorld> {
  return openWorld(createAgent({ provider: createScriptedProvider([says("Hi")]) }));
}

describe("Client ids", () => {
  it("A connection whose attachment was replaced cannot act under the client id", async () => {
    const world = await oneWorld();
    const bound = { secretDigest: "d" };
    expect(await send(world, attach("old", bound), speaking(GUEST))).toMatchObject(accepted);
    const user = attach("new", { ...bound, mode: "controller" });
    expect(await send(world, user, speaking(ME))).toMatchObject(accepted);
    const stale = speaking(GUEST, "old");
    const detach = { type: "detach", clientId: "tui", reason: "mine" } as const;
    const heartbeat = { type: "heartbeat", clientId: "tui", metadata: { forged: true } } as const;
    for (const command of [attach("again"), heartbeat, detach]) {
      expect(await send(world, command, stale)).toMatchObject(denied);
    }
    const { clients } = await world.sessions.status(world.sessionId);
    expect(clients).toMatchObject([{ clientId: "tui", role: "controller", metadata: {} }]);
    expect(await send(world, detach, speaking(ME, "new"))).toMatchObject(accepted);
  });

  it("A client can attach again over the same connection or with the same attachment", async () => {
    const world = await oneWorld();
    expect(await send(world, attach("one"), speaking(GUEST))).toMatchObject(accepted);
    expect(await send(world, attach("two"), speaking(GUEST, "one"))).toMatchObject(accepted);
    expect(await send(world, attach("two"), speaking(GUEST))).toMatchObject(accepted);
    expect(await send(world, attach("three"), speaking(GUEST, "one"))).toMatchObject(denied);
  });

  it("A client id stays bound to its secret after a restart, and is free once the client detaches [W-11]", async () => {
    const before = await oneWorld();
    const bound = attach("one", { secretDigest: "d", mode: "controller" });
    await send(before, bound, speaking(ME));
    const world = await before.restart();
    expect(await send(world, attach("squat"), speaking(GUEST))).toMatchObject(denied);
    const wrong = attach("squat", { secretDigest: "guess" });
    expect(await send(world, wrong, speaking(GUEST))).toMatchObject(denied);
    expect(await send(world, { ...bound, attachmentId: "two" }, speaking(ME))).toMatchObject(
      accepted,
    );
    const detach = { type: "detach", clientId: "tui", reason: "closed" } as const;
    await send(world, detach, speaking(ME, "two"));
    expect(await send(world, attach("free"), speaking(GUEST))).toMatchObject(accepted);
  });
});
