import * as fc from "fast-check";
import type { AgentFacts, ToolFacts } from "../../../src/domain/agent-event.ts";

/** What their names say is what the rules say: the check of the rules then needs none of ours. */
export const TOOL_NAMES = ["free_read", "free_write", "ask_send", "ask_read", "rm_all"] as const;

const tools = TOOL_NAMES.map((name): ToolFacts => {
  return {
    name,
    description: name,
    schema: { type: "object" },
    idempotent: isIdempotent(name),
    timeoutMs: 60_000,
  };
});

export function isIdempotent(name: string): boolean {
  return name.endsWith("_read");
}

export const anyAgent: fc.Arbitrary<AgentFacts> = fc
  .record({
    name: fc.constant("demo"),
    provider: fc.record(
      {
        name: fc.constant("simulated"),
        seams: fc.constantFrom(["turn-start", "tool-results", "turn-end"], ["turn-start"]),
        effectFree: fc.boolean(),
        canStop: fc.boolean(),
        idleMs: fc.constant(900_000),
        lifetimeMs: fc.constant(3_600_000),
      },
      { requiredKeys: ["name", "seams", "effectFree", "canStop"] },
    ),
    tools: fc.constant(tools),
    approvals: fc.record({
      deny: fc.constant(["rm*"]),
      ask: fc.constant(["ask_*"]),
      // Denying beats asking beats allowing.
      allow: fc.constant(["free_*", "ask_*", "rm_*"]),
      otherwise: fc.constantFrom("ask", "deny"),
    }),
    caps: fc.record({
      steps: fc.integer({ min: 1, max: 6 }),
      seconds: fc.constantFrom(60, 100_000),
      tokens: fc.constantFrom(null, 100),
      toolCalls: fc.integer({ min: 1, max: 5 }),
      parallelTools: fc.integer({ min: 1, max: 2 }),
    }),
    onLost: fc.constantFrom("ask", "continue", "reseed", "resend"),
    settle: fc.constantFrom("wait", "stop", "reseed"),
    approvalMs: fc.constantFrom(1000, 600_000),
    terminalTool: fc.option(fc.constant({ name: "free_write", maxReprompts: 1 }), {
      nil: undefined,
    }),
  })
  .map(({ terminalTool, ...rest }) => ({
    ...rest,
    ...(terminalTool !== undefined && { terminalTool }),
  }));
