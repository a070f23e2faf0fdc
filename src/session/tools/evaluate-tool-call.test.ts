import { expect, it } from "vitest";
import type { AgentSpec } from "../../domain/agent-spec.ts";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import { createToolCall } from "../../domain/tools/tool-call.ts";
import { readPolicy } from "../../policy/document/read-policy.ts";
import { evolve } from "../evolve.ts";
import { initialState } from "../session-state.ts";
import { evaluateToolCall } from "./evaluate-tool-call.ts";
import { findRun } from "./tools-state.ts";

const AGENT: AgentSpec = {
  name: "demo",
  provider: { name: "p", injectionPoints: [], effectFree: false, canStop: false },
  tools: [{ name: "send", description: "", schema: {}, idempotent: false, timeoutMs: 1000 }],
  approvals: { deny: [], ask: [], allow: [], default: "allow" },
  policy: readPolicy({ default: "allow", repeat_limit: 1, repeat_action: "deny" }),
  caps: { steps: 1, seconds: 1, tokens: null, toolCalls: 1, parallelTools: 1 },
  onLost: "ask",
  settle: "wait",
  approvalMs: 1000,
};

const EVENTS: readonly SessionEvent[] = [
  { type: "session.opened", agent: "demo", principal: "me" },
  { type: "agent.configured", digest: "d", spec: AGENT },
  { type: "turn.started", turnId: "turn_1", promptId: "prompt_1" },
  {
    type: "tool_call.received",
    toolCallId: "tool_1",
    messageId: "m",
    block: 0,
    toolCall: createToolCall({ id: "c1", name: "send", inputText: "{}", runBy: "client" }),
  },
];

/** The decision about a tool call in a session which evicted the counts of earlier tool calls. */
function decideWithEvictedCounts(maxEvictedCount: number): string | undefined {
  const { tools } = EVENTS.reduce(
    (state, event) => evolve(state, { at: 0, visibility: "public", event }),
    initialState,
  );
  const { repeatCount: _, ...run } = findRun(tools, "tool_1") ?? {};
  const evaluation = evaluateToolCall(Object(run), AGENT, {
    ...tools,
    callCounts: { entries: [], maxEvictedCount },
  });
  return evaluation.verdict === "decide" ? evaluation.decision.action : undefined;
}

it("A tool call whose count was evicted counts as a repeat for the repeat limit", () => {
  expect(decideWithEvictedCounts(0)).toBe("allow");
  expect(decideWithEvictedCounts(1)).toBe("deny");
});
