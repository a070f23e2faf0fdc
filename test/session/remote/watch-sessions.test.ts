import { once } from "node:events";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/platform/clock.ts";
import type { OwnerConnection } from "../../../src/session/remote/owner-connection.ts";
import { RemoteClients } from "../../../src/session/remote/remote-clients.ts";
import { connectToOwner } from "../../../src/session/remote/remote-sessions.ts";
import { createResilientSessions } from "../../../src/session/remote/resilient-sessions.ts";
import { serveSessions } from "../../../src/session/remote/serve-sessions.ts";
import type { Sessions } from "../../../src/session/sessions.ts";
import { temporaryFolder } from "../../store/sqlite-support.ts";
import { createScriptedProvider } from "../../support/session/scripted-provider.ts";
import { createAgent, openWorld } from "../../support/session/session-world.ts";
import { withDeadline } from "../../support/with-deadline.ts";

const HELLO = { token: "t", version: "1" };

async function connectOwner(sessions: Sessions): Promise<OwnerConnection & { close(): void }> {
  const path = join(temporaryFolder(), "s.sock");
  const { signal: closing } = new AbortController();
  const served = { sessions, ...HELLO, clients: new RemoteClients(), closing };
  const server = createServer((socket) => void serveSessions(socket, served));
  server.listen(path);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const socket = connect(path);
  onTestFinished(() => void socket.destroy());
  const remote = await connectToOwner(socket, HELLO);
  return { sessions: remote, closed: remote.closed, close: () => remote.close() };
}

it("A watch of another process's sessions begins anew with a reset when the owner changes", async () => {
  const agent = createAgent({ provider: createScriptedProvider([]) });
  const [first, second] = [await openWorld(agent), await openWorld(agent)];
  const owner = await connectOwner(first.sessions);
  const owners = [owner, await connectOwner(second.sessions)];
  const sessions = createResilientSessions({
    clock: systemClock,
    connect: async () => owners.shift() ?? Promise.reject(new Error("A third owner")),
  });
  const stop = new AbortController();
  const changes = sessions.watchSessions(stop.signal)[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await withDeadline(changes.next(), () => "no change was reported");
    if (done === true) return "end";
    return value.reset ? "reset" : value.changed.map(({ title }) => title);
  };
  expect(await next()).toBe("reset");
  await first.send({ type: "set-title", title: "One" });
  expect(await next()).toEqual(["One"]);
  owner.close();
  expect(await next()).toBe("reset");
  await second.send({ type: "set-title", title: "Two" });
  expect(await next()).toEqual(["Two"]);
  stop.abort();
  expect(await next()).toBe("end");
});
