import type { AgentFacts, ToolFacts } from "../../domain/agent-event.ts";
import type { Matcher, PolicyLayer } from "../../domain/policy.ts";
import type { PolicyContext } from "../../domain/policy-decision.ts";
import { MODE_SOURCE, type SessionMode } from "../../domain/session-mode.ts";
import type { ToolRule } from "../../domain/tool-rule.ts";
import { mayWrite } from "../../policy/call-effect.ts";
import { contextOf } from "../../policy/call-facts.ts";
import { judge } from "../../policy/judge.ts";
import { narrow } from "../../policy/narrow.ts";
import { fits } from "../../policy/wildcard.ts";
import { callFacts } from "./path-facts.ts";
import { policyOf } from "./policy-of.ts";

/** What would become of a call of each tool, as far as that can be said without its arguments. */
export function toolRules(agent: AgentFacts, mode: SessionMode): readonly ToolRule[] {
  const policy = policyOf(agent);
  return agent.tools.map((tool) => {
    const context = contextOf(callFacts(tool, {}, agent), [], 0);
    const { action, rule } = narrow(judge(policy, context, {}), mode);
    const isRefused = action === "deny" && rule?.source === MODE_SOURCE;
    const isOpen =
      !isRefused && policy.layers.some((layer) => isAboutArguments(layer, tool, context));
    return { name: tool.name, description: tool.description, action, isOpen };
  });
}

/** Whether something else than what the tool is decides here. */
function isAboutArguments(
  { rules, writePathAllowlist }: PolicyLayer,
  tool: ToolFacts,
  context: PolicyContext,
): boolean {
  if (writePathAllowlist !== null && mayWrite(context)) return true;
  return rules.some(({ match }) => isAbout(match, tool.name) && Object.keys(match).some(isOfCalls));
}

function isAbout({ tool }: Matcher, name: string): boolean {
  return tool === undefined || tool.some((pattern) => fits(pattern, name));
}

function isOfCalls(key: string): boolean {
  return !OF_TOOLS.has(key);
}

/** The same for every call of a tool. */
const OF_TOOLS: ReadonlySet<string> = new Set<keyof Matcher>([
  "tool",
  "toolKind",
  "sideEffect",
  "mcpServer",
  "mcpTool",
  "capability",
]);
