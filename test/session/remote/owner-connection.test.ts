import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { eventually } from "../../support/eventually.ts";
import { RemoteClients } from "../../../src/session/remote/remote-clients.ts";
import { isClientMessage, isOwnerMessage } from "../../../src/session/remote/owner-messages.ts";
import { OwnerGoneError } from "../../../src/session/remote/owner-connection.ts";
import {
  connectToOwner,
  type RemoteSessions,
} from "../../../src/session/remote/remote-sessions.ts";
import { serveSessions } from "../../../src/session/remote/serve-sessions.ts";
import type { ClientRole } from "../../../src/domain/events/client-events.ts";
import type { SessionCommand } from "../../../src/domain/session-command.ts";
import {
  hangs,
  createScriptedProvider,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  ME,
  openWorld,
  type SessionWorld,
} from "../../support/session/session-world.ts";
import { temporaryFolder } from "../../store/sqlite-support.ts";

const { signal: never } = new AbortController();
const HELLO = { token: "t", version: "1" };

interface Linked extends SessionWorld {
  /** Aborted when the owner gives up the sessions. */
  readonly closing: AbortController;
  readonly connect: () => Promise<Socket>;
  readonly join: () => Promise<{ readonly remote: RemoteSessions; readonly socket: Socket }>;
}

/** A session whose owner accepts joined processes over a socket. */
async function linked(answers: readonly ProviderScript[] = []): Promise<Linked> {
  const world = await openWorld(createAgent({ provider: createScriptedProvider(answers) }));
  const path = join(temporaryFolder(), "s.sock");
  const closing = new AbortController();
  const { sessions } = world;
  const served = {
    sessions,
    ...HELLO,
    clients: new RemoteClients(),
    closing: closing.signal,
  };
  const server = createServer((socket) => void serveSessions(socket, served));
  server.listen(path);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const connected = async (): Promise<Socket> => {
    const socket = connect(path);
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    return socket;
  };
  return {
    ...world,
    closing,
    connect: connected,
    async join() {
      const socket = await connected();
      return { socket, remote: await connectToOwner(socket, HELLO) };
    },
  };
}

function attach(clientId: string, mode: ClientRole = "controller"): SessionCommand {
  return { type: "attach", clientId, mode, name: "editor" };
}

const from = (clientId: string) => ({ principal: ME, clientId });

describe("A joined process that dies", () => {
  it("The clients of a dead process are detached from every session, and control is free again", async () => {
    const world = await linked();
    const { sessions, sessionId } = world;
    const { remote, socket } = await world.join();
    const other = await sessions.open({ principal: ME });
    for (const id of [sessionId, other.sessionId]) {
      await remote.command(id, attach("client_1"), from("client_1"));
    }
    await remote.command(
      other.sessionId,
      { type: "detach", clientId: "client_1", reason: "closed" },
      from("client_1"),
    );
    socket.destroy();
    expect(await world.waitForEvent("client.detached")).toEqual({
      type: "client.detached",
      clientId: "client_1",
      reason: "client_exit",
    });
    const next = await sessions.command(sessionId, attach("client_2"), from("client_2"));
    expect(next.status).toBe("accepted");
    expect(await world.listEvents("client.detached")).toHaveLength(1);
  });

  it("A client is detached if its process dies while it is being attached", async () => {
    const world = await linked();
    const socket = await world.connect();
    const { sessionId } = world;
    const params = [sessionId, attach("client_1"), from("client_1")];
    const messages = [
      { type: "hello", ...HELLO },
      { type: "call", id: 1, method: "command", params },
    ];
    socket.end(messages.map((message) => `${JSON.stringify(message)}\n`).join(""));
    expect(await world.waitForEvent("client.detached")).toMatchObject({ reason: "client_exit" });
  });

  it("A client stays attached if it has attached over another connection, or continues with another owner", async () => {
    const world = await linked();
    const { sessionId, closing } = world;
    const [first, second] = [await world.join(), await world.join()];
    await first.remote.command(sessionId, attach("client_1"), from("client_1"));
    await second.remote.command(sessionId, attach("client_1"), from("client_1"));
    first.socket.destroy();
    await once(first.socket, "close");
    closing.abort();
    second.socket.destroy();
    await once(second.socket, "close");
    await world.send({ type: "set-title", title: "behind both" });
    expect(await world.listEvents("client.detached")).toEqual([]);
  });
});

describe("A client of a process whose connection breaks", () => {
  it("A client which has attached again over another connection stays attached", async () => {
    const world = await linked();
    const { sessions, sessionId } = world;
    const { remote, socket } = await world.join();
    const stay = (attachmentId: string) => ({
      ...attach("client_1"),
      attachmentId,
      secretDigest: "d",
    });
    await remote.command(sessionId, stay("first"), from("client_1"));
    await sessions.command(sessionId, stay("second"), from("client_1"));
    await remote.command(sessionId, attach("client_2", "observer"), from("client_2"));
    socket.destroy();
    expect(await world.waitForEvent("client.detached")).toMatchObject({ clientId: "client_2" });
    const { clients } = await sessions.status(sessionId);
    expect(clients).toMatchObject([{ clientId: "client_1", role: "controller" }]);
  });
});

describe("A subscription over a connection", () => {
  it("A subscription leaks no listeners per batch", async () => {
    const warnings: Error[] = [];
    const warned = (warning: Error): void => void warnings.push(warning);
    process.on("warning", warned);
    onTestFinished(() => void process.off("warning", warned));
    const world = await linked();
    const { sessionId } = world;
    const readers = await Promise.all([world.join(), world.join()]);
    const reading = readers.map(async ({ remote }) => {
      let batches = 0;
      for await (const { events } of remote.subscribe(sessionId, undefined, never)) {
        batches += 1;
        await world.send({ type: "set-title", title: `${batches}` });
        if (batches === 30) return events.length > 0;
      }
      return false;
    });
    const read = await Promise.all(reading);
    await new Promise((resolve) => setImmediate(resolve));
    expect([warnings, read]).toEqual([[], [true, true]]);
  });
});

describe("A connection to the owner", () => {
  it("Only known message types are accepted", () => {
    for (const type of ["constructor", "toString", "__proto__", "nothing"]) {
      expect([isClientMessage({ type }), isOwnerMessage({ type })]).toEqual([false, false]);
    }
    expect([isClientMessage({ type: "taken" }), isOwnerMessage({ type: "item" })]).toEqual([
      true,
      true,
    ]);
  });

  it("Another version is refused with a message, and a wrong token without one", async () => {
    const { connect: connected } = await linked();
    const old = connectToOwner(await connected(), { token: "t", version: "0" });
    await expect(old).rejects.toMatchObject({
      code: "access_denied",
      message: "The running bridge has version 1, this one 0. Fix: stop it, or use its version",
    });
    const stranger = connectToOwner(await connected(), { token: "guess", version: "1" });
    await expect(stranger).rejects.toBeInstanceOf(OwnerGoneError);
  });

  it("An unreadable line ends the connection", async () => {
    const { connect: connected } = await linked();
    const socket = await connected();
    socket.resume();
    socket.write(`${JSON.stringify({ type: "hello", ...HELLO })}\n{"type":\n`);
    await once(socket, "close");
    expect(socket.destroyed).toBe(true);
  });

  it("A line longer than any message ends the connection", async () => {
    const { connect: connected } = await linked();
    const socket = await connected();
    socket.resume();
    socket.on("error", () => {});
    socket.write(`${JSON.stringify({ type: "hello", ...HELLO })}\n`);
    const piece = Buffer.alloc(8 * 1024 * 1024, " ");
    for (let pieces = 0; pieces < 9; pieces++) socket.write(piece);
    await eventually(() => expect(socket.closed).toBe(true));
  });
});

describe("Followers of a session over a connection", () => {
  const CANCEL = { type: "cancel", unlessWatched: true } as const;

  async function reading(remote: RemoteSessions, sessionId: string): Promise<AbortController> {
    const controller = new AbortController();
    const batches = remote.subscribe(sessionId, undefined, controller.signal);
    const iterator = batches[Symbol.asyncIterator]();
    await iterator.next();
    void iterator.next().catch(() => undefined);
    return controller;
  }

  it("A follower keeps a turn running which another leaves, until it leaves too", async () => {
    const world = await linked([hangs()]);
    const { sessionId } = world;
    await world.prompt("Go");
    const { turnId } = await world.waitForEvent("turn.started");
    const [one, other] = [(await world.join()).remote, (await world.join()).remote];
    const [own, others] = [await reading(one, sessionId), await reading(other, sessionId)];
    // Concurrently: a reader which has unsubscribed does not count.
    own.abort();
    expect(await one.command(sessionId, CANCEL, from("one"))).toEqual({ status: "accepted" });
    others.abort();
    expect(await other.command(sessionId, CANCEL, from("other"))).toEqual({
      status: "accepted",
      turnId,
    });
  });
});
