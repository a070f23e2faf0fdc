import {
  array,
  boolean,
  integer,
  number,
  object,
  oneOf,
  optional,
  record,
  refine,
  string,
  union,
  type ObjectOf,
  type Schema,
} from "../../data/schema-reader.ts";
import { throwInvalid, throwProblem } from "../../data/schema-error.ts";
import { RUNTIME_TOOLS, type RuntimeToolsSetting } from "../../domain/tools/runtime-tools.ts";
import { BRIDGE_COMMANDS } from "../../domain/slash-commands.ts";
import { findPatternProblem } from "../../policy/redact-text.ts";
import { PROJECTION_POLICIES } from "../../domain/transcript/projection.ts";
import { COMPACTION_SCHEMA } from "../../domain/transcript/compaction-schema.ts";
import { matchesPattern } from "../../text/match-pattern.ts";
import type { DaemonDefinition, WorkersDefinition } from "./agent-definition.ts";
import { CAPS_SCHEMA } from "./turn-caps.ts";
import { formatNames, suggestFix } from "../../text/unknown-name.ts";
import { BUDGET_CAPS_SCHEMA, BUDGET_SCOPES, type AgentBudgets } from "../../domain/budget.ts";

const PRICE = number({ min: 0 });
const CAPS = optional(BUDGET_CAPS_SCHEMA);

/** A budget in US dollars needs prices: without prices, the estimate would always be 0. */
const BUDGETS_SCHEMA = refine(
  object({
    turn: CAPS,
    session: CAPS,
    principal: CAPS,
    day: CAPS,
    principalDay: CAPS,
    prices: optional(
      object({
        input: PRICE,
        output: PRICE,
        cacheRead: optional(PRICE),
        cacheWrite: optional(PRICE),
      }),
    ),
    extend: optional(number({ above: 0 })),
  }),
  (budgets: AgentBudgets, path) => {
    const scope = BUDGET_SCOPES.find((name) => budgets[name]?.usd !== undefined);
    if (scope !== undefined && budgets.prices === undefined) {
      const fix = "set budgets.prices, in US dollars per million tokens";
      throwProblem(`${path}.${scope}.usd`, "needs prices", fix);
    }
    return budgets;
  },
);

const POSITIVE = optional(number({ above: 0 }));

/**
 * The schema of an agent's plain settings, shared by code and configuration. Names of tools are compared with `tools`;
 * undefined skips this check, because the tools are not known yet.
 */
export function createSettingsShape(tools?: readonly string[]) {
  return {
    approvals: optional(createApprovalsSchema(tools)),
    caps: optional(CAPS_SCHEMA),
    budgets: optional(BUDGETS_SCHEMA),
    onLost: optional(oneOf(["ask", "continue", "reseed", "resend"])),
    settle: optional(oneOf(["wait", "stop", "reseed"])),
    approvalSeconds: POSITIVE,
    askUser: optional(
      union<boolean | { readonly waitSeconds?: number }>(
        "true, false or { waitSeconds }",
        boolean(),
        object({ waitSeconds: POSITIVE }),
      ),
    ),
    runtimeTools: optional(
      union<RuntimeToolsSetting>(
        "true, false or a list of names",
        boolean(),
        array(oneOf(RUNTIME_TOOLS)),
      ),
    ),
    resultsSeconds: POSITIVE,
    invalidToolInput: optional(oneOf(["report", "fail"])),
    images: optional(oneOf(["reject", "describe", "send"])),
    contextTokens: POSITIVE,
    upstream: optional(object({ idleSeconds: POSITIVE, lifetimeSeconds: POSITIVE })),
    commands: optional(COMMANDS_SCHEMA),
    terminalTool: optional(
      object({
        name: createToolNameSchema(tools),
        maxReprompts: optional(integer({ min: 0 })),
      }),
    ),
    daemon: optional(
      union<boolean | DaemonDefinition>(
        "true, false or an object",
        boolean(),
        object({ wakeSeconds: POSITIVE, watchdogAttempts: optional(integer({ min: 1 })) }),
      ),
    ),
    workers: optional(WORKERS_SCHEMA),
    reminders: optional(
      object({
        tokenPressure: optional(boolean()),
        changedFiles: optional(boolean()),
        deniedApproval: optional(boolean()),
      }),
    ),
    compaction: optional(COMPACTION_SCHEMA),
    projection: optional(PROJECTION_SCHEMA),
  };
}

/** The settings that a configuration passes to `defineAgent`. */
export type AgentSettings = ObjectOf<ReturnType<typeof createSettingsShape>>;

/** Throws if both `policy` and `approvals` are set, because two sets of rules would leave the decision unclear. */
export function refuseTwoRuleSets(
  { policy, approvals }: { readonly policy?: unknown; readonly approvals?: unknown },
  path: string,
): void {
  if (policy === undefined || approvals === undefined) return;
  const policyPath = path === "" ? "policy" : `${path}.policy`;
  throwProblem(policyPath, "is not valid together with approvals: expected only one of them");
}

function createApprovalsSchema(tools: readonly string[] | undefined) {
  const list = optional(
    array(createPatternSchema(tools), { expected: "an array of names or patterns" }),
  );
  return object({
    deny: list,
    ask: list,
    allow: list,
    default: optional(oneOf(["ask", "allow", "deny"])),
  });
}

/** Refuses a pattern that matches no tool: such a rule would silently have no effect. */
function createPatternSchema(tools: readonly string[] | undefined): Schema<string> {
  return refine(string({ expected: "the name of a tool or a pattern" }), (pattern, path) => {
    const isMatch =
      tools === undefined ||
      /^\*+$/.test(pattern) ||
      tools.some((tool) => matchesPattern(pattern, tool));
    return isMatch
      ? pattern
      : throwInvalid({
          path,
          value: pattern,
          expected: `a pattern that matches a tool: ${listTools(tools)}`,
          fix: suggestFix(pattern, tools),
        });
  });
}

function createToolNameSchema(tools: readonly string[] | undefined): Schema<string> {
  return refine(string({ expected: "the name of a tool" }), (name, path) =>
    tools?.includes(name) === false
      ? throwInvalid({
          path,
          value: name,
          expected: `the name of a tool: ${listTools(tools)}`,
          fix: suggestFix(name, tools),
        })
      : name,
  );
}

function listTools(tools: readonly string[]): string {
  return tools.length === 0 ? "the agent has none" : formatNames(tools);
}

/** The names are compared with the configured agents when the bridge opens. */
const AGENT_NAMES = array(string({ isFilled: true }), { min: 1, expected: "names of agents" });

const WORKERS_SCHEMA = union<boolean | WorkersDefinition>(
  "true, false or an object",
  boolean(),
  object({
    agents: optional(AGENT_NAMES),
    maxDepth: optional(integer({ min: 1, max: 10 })),
    maxOpen: optional(integer({ min: 1, max: 1000 })),
    budget: optional(BUDGET_CAPS_SCHEMA),
  }),
);

/** Checked with the engine which runs the patterns. */
const PATTERN_SCHEMA = refine(string({ isFilled: true, max: 2000 }), (pattern, path) => {
  const problem = findPatternProblem(pattern);
  if (problem !== undefined)
    throwProblem(path, `is not a valid regular expression in RE2 syntax: ${problem}`);
  return pattern;
});

const PROJECTION_SCHEMA = object({
  policy: optional(oneOf(PROJECTION_POLICIES)),
  redact: optional(array(PATTERN_SCHEMA, { expected: "an array of regular expressions" })),
  redactSecrets: optional(boolean()),
  rootWindow: optional(integer({ min: 1 })),
  minBodyCharacters: optional(integer({ min: 1 })),
});

const TEXT = string({ isFilled: true, max: 200 });

const COMMANDS_SCHEMA = record(
  object({
    description: TEXT,
    hint: optional(TEXT),
    prompt: string({ isFilled: true, max: 64 * 1024 }),
  }),
  { max: 100, name: checkCommandName, expected: "an object with each command under its name" },
);

function checkCommandName(name: string, path: string): void {
  if (!/^[a-z0-9][a-z0-9_-]{0,31}$/.test(name)) {
    const expected = "up to 32 lowercase letters, digits, _ and -";
    throwProblem(path, `is not a valid name of a command: expected ${expected}`);
  }
  if (BRIDGE_COMMANDS.some((builtIn) => builtIn.name === name))
    throwProblem(path, "is a built-in command", "choose another name");
}
