import { formatUnknownName, suggestFix } from "../../text/unknown-name.ts";
import type { Policy, Rule } from "../../domain/policy/policy.ts";
import { formatValue } from "../../text/format-value.ts";
import {
  mayMatchInAnySpelling,
  matchesExactly,
  createSpelledText,
} from "../../policy/matching/wildcard.ts";
import { toServerPrefix } from "../../tools/mcp/model-name.ts";

export interface KnownTools {
  readonly names: readonly string[];
  /** MCP servers, whose tools are known only after connecting. */
  readonly servers: readonly string[];
  /** True if the agent has no other tools. */
  readonly isComplete: boolean;
}

/**
 * Finds tools that a policy names but the agent does not have: a rule about such a tool has no effect, contrary to its
 * author's intent. If not all tools are known, only likely misspellings are reported.
 */
export function findUnknownTools(
  policy: Policy,
  path: string,
  { names, servers, isComplete }: KnownTools,
): string[] {
  const parts = servers.map(toServerPrefix);
  const lines = policy.layers.flatMap(({ rules }) =>
    rules.flatMap((rule) =>
      (rule.match.tool ?? []).flatMap((tool) => {
        if (isKnown(tool, rule, names) || belongsToServer(tool, parts)) return [];
        const where = `${path}.${rule.source}[${rule.index}]`;
        if (isPattern(tool)) {
          // A pattern may match tools that are not known yet.
          const isCertain = isComplete && servers.length === 0;
          return isCertain
            ? [`${where} is ${formatValue(tool)}, which matches no tool of the agent`]
            : [];
        }
        if (!isComplete && suggestFix(tool, names) === undefined) return [];
        return [`${where}: ${formatUnknownName("Tool", tool, { names, isListed: isComplete })}`];
      }),
    ),
  );
  const omitted = lines.length - MAX_REPORTED;
  return omitted <= 0
    ? lines
    : [...lines.slice(0, MAX_REPORTED), `${path}: and ${omitted} more such names`];
}

const MAX_REPORTED = 10;

/** Compares like the rules: allow rules are case-sensitive, all others are not. */
function isKnown(tool: string, { action }: Rule, names: readonly string[]): boolean {
  const matches = action === "allow" ? matchesExactly : mayMatchInAnySpelling;
  const pattern = createSpelledText(tool);
  return names.some((name) => matches(pattern, createSpelledText(name)));
}

function isPattern(tool: string): boolean {
  return /[*?]/.test(tool);
}

function belongsToServer(tool: string, parts: readonly string[]): boolean {
  return parts.some((part) => tool.toLowerCase().startsWith(`${part.toLowerCase()}__`));
}
