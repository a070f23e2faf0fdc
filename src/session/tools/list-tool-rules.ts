import type { AgentSpec, ToolSpec } from "../../domain/agent-spec.ts";
import type { Matcher, PolicyLayer } from "../../domain/policy/policy.ts";
import type { PolicyContext } from "../../domain/policy/policy-decision.ts";
import { MODE_SOURCE, type SessionMode } from "../../domain/session-mode.ts";
import type { ToolRule } from "../../domain/tools/tool-rule.ts";
import { mayWrite } from "../../policy/facts/tool-call-effect.ts";
import { createPolicyContext } from "../../policy/facts/tool-call-facts.ts";
import { evaluatePolicy } from "../../policy/evaluate-policy.ts";
import { applyMode } from "../../policy/apply-mode.ts";
import { matchesWildcard } from "../../policy/matching/wildcard.ts";
import { readToolCallFacts } from "./tool-call-paths.ts";
import { resolvePolicy } from "./resolve-policy.ts";

/** Lists how the policy treats each tool, as far as known without arguments. */
export function listToolRules(agent: AgentSpec, mode: SessionMode): readonly ToolRule[] {
  const policy = resolvePolicy(agent);
  return agent.tools.map((tool) => {
    const context = createPolicyContext(readToolCallFacts(tool, {}, agent), [], 0);
    const { action, rule } = applyMode(evaluatePolicy(policy, context, {}), mode);
    const isRefused = action === "deny" && rule?.source === MODE_SOURCE;
    const dependsOnArguments =
      !isRefused && policy.layers.some((layer) => hasArgumentConditions(layer, tool, context));
    return { name: tool.name, description: tool.description, action, dependsOnArguments };
  });
}

/** Whether the decision depends on more than the tool. */
function hasArgumentConditions(
  { rules, writePathAllowlist }: PolicyLayer,
  tool: ToolSpec,
  context: PolicyContext,
): boolean {
  if (writePathAllowlist !== null && mayWrite(context)) return true;
  return rules.some(
    ({ match }) => matchesToolName(match, tool.name) && Object.keys(match).some(isCallKey),
  );
}

function matchesToolName({ tool }: Matcher, name: string): boolean {
  return tool === undefined || tool.some((pattern) => matchesWildcard(pattern, name));
}

function isCallKey(key: string): boolean {
  return !TOOL_KEYS.has(key);
}

/** Keys whose values are the same for every call of a tool. */
const TOOL_KEYS: ReadonlySet<string> = new Set<keyof Matcher>([
  "tool",
  "toolKind",
  "sideEffect",
  "mcpServer",
  "mcpTool",
  "capability",
]);
