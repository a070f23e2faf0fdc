import { describe, expect, it, onTestFinished } from "vitest";
import { agentOf, sessionsOn } from "../../../test/support/session-world.ts";
import { says, scriptedProvider } from "../../../test/support/scripted-provider.ts";
import type { OpenSocket } from "../../http/open-socket.ts";
import { systemClock } from "../../platform/clock.ts";
import { memoryStore } from "../../store/memory/memory-store.ts";
import { sharedLines } from "../../wire/acp/shared-lines.ts";
import { acpSocketRoute } from "./socket-route.ts";

const HEAD = { requestId: "", method: "GET", path: "/acp", query: "", headers: [] };
const ADA = { id: "ada", rights: ["prompt", "approve", "control"] } as const;

describe("a connection over a WebSocket", () => {
  it("is left when what it is told cannot be dealt with", async () => {
    const sessions = sessionsOn(memoryStore(), agentOf({ provider: scriptedProvider([says("")]) }));
    onTestFinished(() => sessions.close());
    const { sessionId } = await sessions.open({ principal: ADA });
    const broken = new Error("The count is broken");
    const route = acpSocketRoute({
      sessions,
      access: { callerOf: () => ADA },
      rates: {
        request: () => ({}),
        turn: () => {
          throw broken;
        },
      },
      clock: systemClock,
      lines: sharedLines(),
      log: () => {},
    });
    const talk = await route.accept(HEAD);
    const socket = socketThatSays(async function* (answers) {
      yield request(1, "initialize", {});
      yield request(2, "session/attach", { sessionId, clientId: "tui", mode: "controller" });
      await answers(2);
      expect((await sessions.peek(sessionId)).clients).toHaveLength(1);
      yield request(3, "session/prompt", { sessionId, prompt: [{ type: "text", text: "Go" }] });
    });
    await expect(talk(socket)).rejects.toBe(broken);
    expect((await sessions.peek(sessionId)).clients).toEqual([]);
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
    texts: says(
      (id) =>
        new Promise((resolve) => {
          waiting.set(id, resolve);
        }),
    ),
    async send(text) {
      const { id } = JSON.parse(text);
      waiting.get(id)?.();
    },
    gone: signal,
    aged: signal,
  };
}
