import * as fc from "fast-check";
import type { AgentSpec, ToolSpec } from "../../../src/domain/agent-spec.ts";
import type { AgentBudgets } from "../../../src/domain/budget.ts";
import type { PolicyAction } from "../../../src/domain/policy/policy-decision.ts";
import type { SessionMode } from "../../../src/domain/session-mode.ts";
import type { ToolTraits } from "../../../src/domain/tools/tool-traits.ts";
import { createPolicy } from "../../support/session/create-policy.ts";

/** A tool which prompts may bring. */
export const PROMPT_TOOL = "mine_look";

/** The name of each tool states its rule, so these checks need no code of the policy. */
export const TOOL_NAMES = [
  "free_read",
  "free_write",
  "free_path",
  "ask_send",
  "ask_read",
  "ask_path",
  "two_pay",
  "rm_all",
] as const;

const tools = TOOL_NAMES.map((name): ToolSpec => {
  return {
    name,
    description: name,
    schema: { type: "object" },
    idempotent: isIdempotent(name),
    timeoutMs: 60_000,
    ...(name.endsWith("_path") && {
      traits: { kind: "edit", sideEffect: "workspace_write", paths: ["path"] },
    }),
    ...(isReading(name) && { traits: { kind: "read", sideEffect: "read_only", ...whoRuns(name) } }),
  };
});

/** One tool belongs to a client's machine: without its client it is absent and waited for. */
function whoRuns(name: string): Pick<ToolTraits, "executor"> {
  return isOfClient(name) ? { executor: { type: "host" } } : {};
}

export function isOfClient(name: string): boolean {
  return name === "free_read";
}

export function isIdempotent(name: string): boolean {
  return name.endsWith("_read");
}

/** According to its traits. */
export function isReading(name: string): boolean {
  return name.endsWith("_read");
}

const LISTS = {
  deny: ["rm*"],
  ask: ["ask_*", "two_*"],
  // `deny` wins over `ask`, and `ask` over `allow`.
  allow: ["free_*", "ask_*", "rm_*"],
} as const;

const POLICY = createPolicy([
  ["rm_*", "deny"],
  ["two_*", "ask", 2],
  ["ask_*", "ask"],
  ["*", "allow"],
]);

/** Free tools now need approval, and tools with approval are denied, by rules at the same positions. */
const STRICT = createPolicy([
  ["rm_*", "deny"],
  ["two_*", "ask", 2],
  ["ask_*", "deny"],
  ["free_*", "ask"],
]);

/** The agent with a change, as its owner could make between two runs of the bridge. */
export function changedAgent(facts: AgentSpec, change: Change): AgentSpec {
  const { policy: _, ...rest } = facts;
  switch (change) {
    case "loss":
      return { ...facts, onLost: facts.onLost === "continue" ? "reseed" : "continue" };
    case "rules":
      return facts.name === "strict"
        ? { ...rest, name: "demo" }
        : { ...rest, name: "strict", policy: STRICT };
    case "tools":
      return { ...facts, tools: facts.tools.length < tools.length ? tools : tools.slice(2) };
    case "words":
      return { ...facts, tools: facts.tools.map(inOtherWords) };
    default:
      return change satisfies never;
  }
}

/** The tool with another description. */
function inOtherWords(tool: ToolSpec): ToolSpec {
  return tool.name === "ask_read" ? tool : { ...tool, description: `${tool.description}!` };
}

export const CHANGES = ["loss", "rules", "tools", "words"] as const;
export type Change = (typeof CHANGES)[number];

/** The action for a tool by rules and mode, derived from the names of the tool and the agent. */
export function rulesFor(name: string, agent: AgentSpec, mode: SessionMode): Ruled {
  const ruled = ruledBy(name, agent);
  if (mode === "default" || isReading(name) || ruled.action === "deny") return ruled;
  if (mode === "read-only") return { action: "deny", approvers: 0 };
  return { action: "ask", approvers: Math.max(1, ruled.approvers) };
}

export interface Ruled {
  readonly action: PolicyAction;
  readonly approvers: number;
}

function ruledBy(name: string, { name: agent, policy: ownPolicy }: AgentSpec): Ruled {
  const isStrict = agent === "strict";
  if (name.startsWith("rm_")) return { action: "deny", approvers: 0 };
  if (name.startsWith("two_")) return { action: "ask", approvers: ownPolicy === undefined ? 1 : 2 };
  const isAsked = name.startsWith("ask_") !== isStrict;
  if (isAsked) return { action: "ask", approvers: 1 };
  return { action: isStrict ? "deny" : "allow", approvers: 0 };
}

const BUDGETS: readonly AgentBudgets[] = [
  { turn: { invocations: 2, toolCalls: 1 }, session: { tokens: 50 }, extend: 0.5 },
  { principal: { tokens: 100, toolCalls: 2 }, day: { invocations: 9 } },
];

export const anyAgent: fc.Arbitrary<AgentSpec> = fc
  .record({
    name: fc.constant("demo"),
    provider: fc.record(
      {
        name: fc.constant("simulated"),
        injectionPoints: fc.constantFrom(
          ["turn-start", "tool-results", "turn-end"],
          ["turn-start"],
        ),
        effectFree: fc.boolean(),
        canStop: fc.boolean(),
        keepsHistory: fc.constantFrom(true, true, true, false),
        capabilities: fc.constant({ instructions: true, tools: true, allowedTools: true } as const),
        idleMs: fc.constant(900_000),
        lifetimeMs: fc.constant(3_600_000),
      },
      {
        requiredKeys: [
          "name",
          "injectionPoints",
          "effectFree",
          "canStop",
          "keepsHistory",
          "capabilities",
        ],
      },
    ),
    tools: fc.constant(tools),
    approvals: fc.record({
      deny: fc.constant(LISTS.deny),
      ask: fc.constant(LISTS.ask),
      allow: fc.constant(LISTS.allow),
      default: fc.constantFrom("ask", "deny"),
    }),
    policy: fc.option(fc.constant(POLICY), { nil: undefined }),
    caps: fc.record({
      steps: fc.integer({ min: 1, max: 6 }),
      seconds: fc.constantFrom(60, 100_000),
      tokens: fc.constantFrom(null, 100),
      toolCalls: fc.integer({ min: 1, max: 5 }),
      parallelTools: fc.integer({ min: 1, max: 2 }),
    }),
    budgets: fc.constantFrom<AgentBudgets | undefined>(undefined, undefined, ...BUDGETS),
    onLost: fc.constantFrom("ask", "continue", "reseed", "resend"),
    settle: fc.constantFrom("wait", "stop", "reseed"),
    approvalMs: fc.constantFrom(1000, 600_000),
    resultsMs: fc.constantFrom(5000, 2_000_000),
    terminalTool: fc.option(fc.constant({ name: "free_write", maxReprompts: 1 }), {
      nil: undefined,
    }),
  })
  .map(({ terminalTool, policy: ownPolicy, budgets, ...rest }) => ({
    ...rest,
    ...(budgets !== undefined && { budgets }),
    ...(terminalTool !== undefined && { terminalTool }),
    ...(ownPolicy !== undefined && { policy: ownPolicy }),
  }));
