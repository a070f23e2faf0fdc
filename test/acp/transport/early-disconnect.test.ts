import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../src/platform/clock.ts";
import type { Sessions } from "../../../src/session/sessions.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import {
  createAcpConnection,
  type AcpConnection,
} from "../../../src/surfaces/acp/connection/acp-connection.ts";
import { createLineWriter } from "../../../src/surfaces/acp/connection/line-writer.ts";
import { USER } from "../../support/acp/acp-client.ts";
import { createGate } from "../../support/gate.ts";
import { says, createScriptedProvider } from "../../support/session/scripted-provider.ts";
import { createAgent, openSessions } from "../../support/session/session-world.ts";

type Step = "checkCredentials" | "open" | "find" | "command" | "setClientTools" | "status";

/** Sessions that block a single setup step until `open` is called, and count their subscribers. */
function heldSessions(step: Step) {
  const sessions = openSessions(
    createMemoryStore(),
    createAgent({ provider: createScriptedProvider([says("Hi")]) }),
  );
  onTestFinished(() => sessions.close());
  const { entry, open, pass } = createGate();
  const followers: AbortSignal[] = [];
  let isArmed = false;
  const own = sessions[step].bind(sessions);
  const watched: Sessions = {
    ...sessions,
    agents: sessions.agents,
    [step]: async (...args: readonly unknown[]) => {
      if (isArmed) {
        isArmed = false;
        await pass();
      }
      return Reflect.apply(own, sessions, args);
    },
    subscribe(sessionId, cursor, signal) {
      followers.push(signal);
      return sessions.subscribe(sessionId, cursor, signal);
    },
  };
  return {
    sessions,
    watched,
    entered: entry,
    open,
    arm: () => void (isArmed = true),
    followed: () => followers.filter(({ aborted }) => !aborted).length,
  };
}

function connectionOn(sessions: Sessions): AcpConnection {
  const output = new PassThrough().resume();
  return createAcpConnection({
    sessions,
    principal: USER,
    isLocalUser: true,
    isSameMachine: true,
    hasCursors: false,
    connectionId: "editor",
    version: "1",
    clock: systemClock,
    writer: createLineWriter(output),
    log: () => {},
  });
}

let count = 0;
function send(connection: AcpConnection, method: string, params: object = {}): void {
  count += 1;
  const text = JSON.stringify({ jsonrpc: "2.0", id: count, method, params });
  connection.receive({ type: "line", text, offset: 0 });
}

const PLACE = { cwd: "/work", mcpServers: [] };
const TOOLS = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };

describe("Client that disconnects during a session setup", () => {
  it.each([
    ["session/new", "checkCredentials"],
    ["session/new", "open"],
    ["session/new", "command"],
    ["session/new", "setClientTools"],
    ["session/new", "status"],
    ["session/load", "checkCredentials"],
    ["session/load", "find"],
    ["session/load", "command"],
    ["session/load", "setClientTools"],
    ["session/load", "status"],
    ["session/prompt", "find"],
    ["session/prompt", "command"],
    ["session/fork", "open"],
    ["session/fork", "setClientTools"],
    ["session/attach", "find"],
    ["session/attach", "command"],
  ] as const)(
    "The client is not attached or subscribed afterwards: %s at %s [ACP-125]",
    async (method, step) => {
      const here = heldSessions(step);
      const { sessionId } = await here.sessions.open({
        principal: USER,
        workingDirectory: "/work",
      });
      const connection = connectionOn(here.watched);
      send(connection, "initialize", { protocolVersion: 1, clientCapabilities: TOOLS });
      await connection.waitForIdle();
      here.arm();
      const live = { clientId: "tui", mode: "controller" };
      send(connection, method, {
        sessionId,
        ...PLACE,
        ...live,
        prompt: [{ type: "text", text: "" }],
      });
      await here.entered;
      await connection.disconnect("client_exit");
      here.open();
      await connection.waitForIdle();
      const page = await here.sessions.list({ limit: 10 });
      for (const one of page.sessions) {
        expect((await here.sessions.status(one.sessionId)).clients).toEqual([]);
      }
      expect(here.followed()).toBe(0);
    },
  );
});
