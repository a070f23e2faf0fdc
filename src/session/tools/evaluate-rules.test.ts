import { describe, expect, it } from "vitest";
import type { AgentSpec } from "../../domain/agent-spec.ts";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import { createToolCall } from "../../domain/tools/tool-call.ts";
import { digestValue } from "../../platform/digest.ts";
import { evolve } from "../evolve.ts";
import { initialState } from "../session-state.ts";
import { startDecision } from "../decision.ts";
import { evaluateRules } from "./evaluate-rules.ts";
import { findRun } from "./tools-state.ts";

const INPUT = { to: "ada" };

function factsOf(rule: "ask" | "allow", idempotent: boolean): AgentSpec {
  return {
    name: "demo",
    provider: { name: "p", injectionPoints: [], effectFree: false, canStop: false },
    tools: [{ name: "send", description: "", schema: {}, idempotent, timeoutMs: 1000 }],
    approvals: { deny: [], ask: [], allow: [], default: "deny", [rule]: ["send"] },
    caps: { steps: 1, seconds: 1, tokens: null, toolCalls: 1, parallelTools: 1 },
    onLost: "ask",
    settle: "wait",
    approvalMs: 1000,
  };
}

/** Evaluates a tool call, started or not, without an approval. */
function ruling(rule: "ask" | "allow", isStarted: boolean, idempotent = false) {
  const call = createToolCall({
    id: "c1",
    name: "send",
    inputText: JSON.stringify(INPUT),
    runBy: "client",
  });
  const events: readonly SessionEvent[] = [
    { type: "session.opened", agent: "demo", principal: "me" },
    { type: "agent.configured", digest: "d", spec: factsOf(rule, idempotent) },
    { type: "turn.started", turnId: "turn_1", promptId: "prompt_1" },
    { type: "tool_call.received", toolCallId: "tool_1", messageId: "m", block: 0, toolCall: call },
    {
      type: "grant.added",
      grantId: "grant_1",
      approvalId: "appr_1",
      scope: {
        tool: "send",
        rule: { source: "require_approval", action: "ask", id: null, index: 0 },
        digest: digestValue(INPUT),
      },
    },
    ...(isStarted
      ? [
          {
            type: "tool.started",
            toolCallId: "tool_1",
            attempt: 1,
            digest: digestValue(INPUT),
          } as const,
        ]
      : []),
  ];
  const state = events.reduce(
    (before, event) => evolve(before, { at: 0, visibility: "public", event }),
    initialState,
  );
  const work = startDecision(state, { type: "time-passed", at: 0, seed: "0".repeat(13) });
  const run = findRun(work.state.tools, "tool_1");
  if (run === undefined) throw new Error("the tool call is not open");
  const ruled = evaluateRules(work, run);
  if (ruled.verdict !== "decide") throw new Error(`the verdict is ${ruled.verdict}`);
  return [ruled.decision.action, ruled.grantId];
}

describe("evaluateRules", () => {
  it("A first attempt is allowed by a rule or a grant", () => {
    expect(ruling("allow", false)).toEqual(["allow", undefined]);
    expect(ruling("ask", false)).toEqual(["allow", "grant_1"]);
  });

  it("A second attempt needs approval, whatever a rule or a grant allows [W-01]", () => {
    expect(ruling("allow", true)).toEqual(["ask", undefined]);
    expect(ruling("ask", true)).toEqual(["ask", undefined]);
  });

  it("A second attempt of an idempotent tool is allowed like the first", () => {
    expect(ruling("allow", true, true)).toEqual(["allow", undefined]);
    expect(ruling("ask", true, true)).toEqual(["allow", "grant_1"]);
  });
});
