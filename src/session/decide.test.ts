import { describe, expect, it } from "vitest";
import type { AgentFacts } from "../domain/agent-event.ts";
import { decide } from "./decide.ts";
import { due } from "./due.ts";
import { evolve } from "./evolve.ts";
import type { Happening } from "./input.ts";
import { initialState } from "./state.ts";

const facts: AgentFacts = {
  name: "demo",
  provider: { name: "p", seams: ["turn-start", "tool-results"], effectFree: false, canStop: true },
  tools: [],
  approvals: { deny: ["rm*"], ask: ["write"], allow: ["read"], otherwise: "ask" },
  caps: { steps: 10, seconds: 600, tokens: null, toolCalls: 20, parallelTools: 2 },
  onLost: "ask",
  settle: "stop",
  approvalMs: 60_000,
};

function session() {
  let state = initialState;
  let at = 1000;
  const log: unknown[] = [];
  return {
    get state() {
      return state;
    },
    log,
    send(happening: Happening) {
      at += 1;
      const { events, reply } = decide(state, { ...happening, at, seed: "0".repeat(13) });
      for (const draft of events) {
        state = evolve(state, draft);
        log.push(draft.event);
      }
      return {
        types: events.map(({ event }) => event.type),
        reply,
        due: [...due(state).effects.values()],
      };
    },
  };
}

describe("smoke", () => {
  it("walks", () => {
    const s = session();
    s.send({ type: "opened", agent: { digest: "d", facts }, principal: "me" });
    const by = { kind: "user", principal: "me" } as const;
    const rights = ["prompt", "approve", "control"] as const;
    const a = s.send({
      type: "commanded",
      command: { type: "prompt", content: [{ type: "text", text: "hi" }] },
      by,
      rights,
    });
    console.log(a);
    const [call] = a.due;
    if (call?.type !== "call") throw new Error();
    const tc = { id: "c1", name: "write", inputText: "{}", input: {}, runBy: "client" } as const;
    console.log(
      s.send({
        type: "call-said",
        callId: call.callId,
        said: [
          { event: { type: "message.start", message: 0, role: "assistant" } },
          { event: { type: "text.delta", message: 0, block: 0, text: "Hel" } },
          { event: { type: "text.end", message: 0, block: 0, text: "Hello" } },
          { event: { type: "tool.start", message: 0, block: 1, callId: "c1", name: "write" } },
          { event: { type: "tool.end", message: 0, block: 1, call: tc } },
          { event: { type: "message.end", message: 0, reason: "tool_use" } },
          {
            event: {
              type: "end",
              outcome: "action-required",
              reason: "tool_use",
              openCalls: ["c1"],
              usage: null,
            },
          },
        ],
      }),
    );
    const ap = s.state.approvals.pending[0];
    const b = s.send({
      type: "commanded",
      command: { type: "answer", approvalId: ap?.approvalId ?? "", decision: "allow" },
      by,
      rights,
    });
    console.log(b);
    const tool = b.due[0];
    if (tool?.type !== "tool") throw new Error();
    const c = s.send({
      type: "tool-ended",
      toolCallId: tool.toolCallId,
      attempt: 1,
      ending: "succeeded",
      durationMs: 1,
      result: { callId: "c1", parts: [], isError: false },
    });
    console.log(JSON.stringify(c, null, 1));
    console.log(s.send({ type: "recovered", epoch: 2 }));
    expect(s.state.turn.current?.stage.type).toBe("lost");
  });
});
