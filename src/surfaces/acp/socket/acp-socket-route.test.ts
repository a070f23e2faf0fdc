import { describe, expect, it, onTestFinished } from "vitest";
import { createAgent, openSessions } from "../../../../test/support/session/session-world.ts";
import {
  says,
  createScriptedProvider,
} from "../../../../test/support/session/scripted-provider.ts";
import type { OpenSocket } from "../../../http/sockets/open-socket.ts";
import { systemClock } from "../../../platform/clock.ts";
import { createMemoryStore } from "../../../store/memory/memory-store.ts";
import { createLineCache } from "../../../wire/acp/encode/line-cache.ts";
import { createAcpSocketRoute } from "./acp-socket-route.ts";

const HEAD = { requestId: "", method: "GET", path: "/acp", query: "", headers: [] };
const ADA = { id: "ada", rights: ["prompt", "approve", "control"] } as const;

describe("An ACP connection over a WebSocket", () => {
  it("A socket whose message handler throws is disconnected, and its client is detached", async () => {
    const sessions = openSessions(
      createMemoryStore(),
      createAgent({ provider: createScriptedProvider([says("")]) }),
    );
    onTestFinished(() => sessions.close());
    const { sessionId } = await sessions.open({ principal: ADA });
    const broken = new Error("The count is broken");
    const route = createAcpSocketRoute({
      sessions,
      access: { authenticate: () => ADA },
      rates: {
        countRequest: () => ({}),
        startTurn: () => {
          throw broken;
        },
      },
      clock: systemClock,
      lines: createLineCache(),
      log: () => {},
    });
    const talk = await route.accept(HEAD);
    const socket = socketThatSays(async function* (answers) {
      yield request(1, "initialize", {});
      yield request(2, "session/attach", { sessionId, clientId: "tui", mode: "controller" });
      await answers(2);
      expect((await sessions.status(sessionId)).clients).toHaveLength(1);
      yield request(3, "session/prompt", { sessionId, prompt: [{ type: "text", text: "Go" }] });
    });
    await expect(talk(socket)).rejects.toBe(broken);
    expect((await sessions.status(sessionId)).clients).toEqual([]);
  });
});

function request(id: number, method: string, params: object): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method, params });
}

function socketThatSays(
  says: (answers: (id: number) => Promise<void>) => AsyncIterable<string>,
): OpenSocket {
  const waiting = new Map<number, () => void>();
  const { signal } = new AbortController();
  return {
    messages: says(
      (id) =>
        new Promise((resolve) => {
          waiting.set(id, resolve);
        }),
    ),
    urgentMessages: (async function* () {})(),
    async send(text) {
      const { id } = JSON.parse(text);
      waiting.get(id)?.();
    },
    disconnectSignal: signal,
    expirySignal: signal,
  };
}
