import { once } from "node:events";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/platform/clock.ts";
import { OwnerGoneError } from "../../../src/session/remote/owner-connection.ts";
import { RemoteClients } from "../../../src/session/remote/remote-clients.ts";
import {
  connectToOwner,
  type RemoteSessions,
} from "../../../src/session/remote/remote-sessions.ts";
import { createResilientSessions } from "../../../src/session/remote/resilient-sessions.ts";
import { serveSessions } from "../../../src/session/remote/serve-sessions.ts";
import {
  REPEATABLE_METHODS,
  REQUEST_METHODS,
  SESSION_METHODS,
  type SessionMethod,
} from "../../../src/session/session-methods.ts";
import type { Sessions } from "../../../src/session/sessions.ts";
import { temporaryFolder } from "../../store/sqlite-support.ts";

const HELLO = { token: "t", version: "1" };
const { signal: open } = new AbortController();

type RecordedCall = readonly [method: string, ...args: readonly unknown[]];

/** Sessions which record each request; each result names its method. `fail` is called first. */
function recordingSessions(calls: RecordedCall[], fail: () => void = () => {}): Sessions {
  const methods = REQUEST_METHODS.map((name) => [
    name,
    async (...args: readonly unknown[]) => {
      calls.push([name, ...args]);
      fail();
      return { status: "accepted", result: name };
    },
  ]);
  const partial: Partial<Sessions> = { agents: ["demo"], ...Object.fromEntries(methods) };
  return partial as Sessions;
}

async function joined(sessions: Sessions): Promise<RemoteSessions> {
  const path = join(temporaryFolder(), "s.sock");
  const options = { sessions, ...HELLO, clients: new RemoteClients(), closing: open };
  const server = createServer((socket) => void serveSessions(socket, options));
  server.listen(path);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const socket = connect(path);
  onTestFinished(() => void socket.destroy());
  return connectToOwner(socket, HELLO);
}

function callWith(sessions: Sessions, name: SessionMethod, args: readonly unknown[]): unknown {
  return Reflect.apply(sessions[name], sessions, args);
}

describe("Methods of sessions", () => {
  it("The table names every method of the remote sessions", async () => {
    const remote = await joined(recordingSessions([]));
    const names = Object.keys(remote).filter(
      (name) => !["agents", "closed", "close"].includes(name),
    );
    expect(names.toSorted()).toEqual(Object.keys(SESSION_METHODS).toSorted());
  });

  it.each(REQUEST_METHODS)(
    "%s reaches the owner with its arguments and returns its result",
    async (name) => {
      const calls: RecordedCall[] = [];
      const remote = await joined(recordingSessions(calls));
      const args = ["ses_1", { type: "prompt" }, { principal: { id: "ada" } }];
      expect(await callWith(remote, name, args)).toEqual({ status: "accepted", result: name });
      expect(calls).toEqual([[name, ...args]]);
    },
  );

  it("An optional last argument that is undefined is also missing for the owner", async () => {
    const calls: RecordedCall[] = [];
    const remote = await joined(recordingSessions(calls));
    await remote.checkCredentials(undefined);
    await remote.checkCredentials("demo");
    expect(calls).toEqual([["checkCredentials"], ["checkCredentials", "demo"]]);
  });

  it.each(REPEATABLE_METHODS)(
    "%s is sent unchanged to the next owner if the first is lost",
    async (name) => {
      const [first, second]: RecordedCall[][] = [[], []];
      const lost = new AbortController();
      const owners = [
        recordingSessions(first ?? [], () => {
          lost.abort();
          throw new OwnerGoneError("The owner is gone");
        }),
        recordingSessions(second ?? []),
      ];
      let connections = 0;
      const sessions = createResilientSessions({
        clock: systemClock,
        async connect() {
          const [owner, closed] = connections === 0 ? [owners[0], lost.signal] : [owners[1], open];
          connections += 1;
          if (owner === undefined) throw new Error("no owner is left");
          return { sessions: owner, closed };
        },
      });
      expect(await callWith(sessions, name, ["ses_1", 7])).toMatchObject({ result: name });
      expect([first, second]).toEqual([[[name, "ses_1", 7]], [[name, "ses_1", 7]]]);
    },
  );
});
