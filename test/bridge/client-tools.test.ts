import { once } from "node:events";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createResilientSessions } from "../../src/session/remote/resilient-sessions.ts";
import { RemoteClients } from "../../src/session/remote/remote-clients.ts";
import { OwnerGoneError } from "../../src/session/remote/owner-connection.ts";
import { connectToOwner } from "../../src/session/remote/remote-sessions.ts";
import { serveSessions } from "../../src/session/remote/serve-sessions.ts";
import { systemClock } from "../../src/platform/clock.ts";
import type { Sessions } from "../../src/session/sessions.ts";
import { createClientToolSessions } from "../support/session/client-tool-sessions.ts";
import { eventually } from "../support/eventually.ts";
import { says } from "../support/session/scripted-provider.ts";
import { ME } from "../support/session/session-world.ts";
import { temporaryFolder } from "../store/sqlite-support.ts";

const HELLO = { token: "t", version: "1" };
const FROM = { principal: ME, clientId: "client_1" };
const EQUIPMENT = {
  servers: [],
  tools: [{ name: "Read", description: "Reads", schema: null, deprecated: false }],
};
const ATTACH = {
  type: "attach",
  clientId: "client_1",
  mode: "controller",
  name: "editor",
} as const;

describe("Client tools of a joined process", () => {
  it("Client tools are set over the connection to the owner and removed when the connection breaks", async () => {
    const world = createClientToolSessions([says("Hi")]);
    const { sessionId } = await world.sessions.open({ principal: ME });
    const path = join(temporaryFolder(), "s.sock");
    const { signal: closing } = new AbortController();
    const served = { sessions: world.sessions, ...HELLO, clients: new RemoteClients(), closing };
    const server = createServer((socket) => void serveSessions(socket, served));
    server.listen(path);
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const socket = connect(path);
    await once(socket, "connect");
    const remote = await connectToOwner(socket, HELLO);
    const absent = await remote.setClientTools(sessionId, EQUIPMENT, FROM);
    expect(absent).toMatchObject({ status: "refused", failure: { code: "not_found" } });
    await remote.command(sessionId, ATTACH, FROM);
    expect(await remote.setClientTools(sessionId, EQUIPMENT, FROM)).toEqual({
      status: "accepted",
      problems: [],
    });
    expect(await world.listTools(sessionId)).toEqual(["host__Read"]);
    socket.destroy();
    await eventually(async () => expect(await world.listTools(sessionId)).toEqual([]));
  });

  it("Client tools are set again at the next owner when the owner dies", async () => {
    const world = createClientToolSessions([says("Hi")]);
    const { sessionId } = await world.sessions.open({ principal: ME });
    const clientServers: unknown[] = [];
    const dying = new AbortController();
    const first: Sessions = {
      ...world.sessions,
      find: () => Promise.reject(new OwnerGoneError("gone")),
    };
    const second: Sessions = {
      ...world.sessions,
      async setClientTools(...args) {
        clientServers.push(args);
        return { status: "accepted", problems: [] };
      },
    };
    const { signal: never } = new AbortController();
    const owners = [
      { sessions: first, closed: dying.signal },
      { sessions: second, closed: never },
    ];
    const sessions = createResilientSessions({
      clock: systemClock,
      connect: async () => owners.shift() ?? Promise.reject(new Error("no more")),
    });
    await sessions.command(sessionId, ATTACH, FROM);
    await sessions.setClientTools(sessionId, EQUIPMENT, FROM);
    dying.abort();
    await sessions.find(sessionId);
    expect(clientServers).toEqual([[sessionId, EQUIPMENT, FROM]]);
  });
});
