import { nearNames } from "../../domain/near-names.ts";
import type { Policy, Rule } from "../../domain/policy.ts";
import { shown } from "../../domain/shown.ts";
import { fitsAnySpelling, fitsExactly, spelled } from "../../policy/wildcard.ts";
import { serverPart } from "../../tools/mcp/model-name.ts";

export interface KnownTools {
  readonly names: readonly string[];
  /** MCP servers: what they offer is known when they are connected to. */
  readonly servers: readonly string[];
  /** Whether the agent has no others. */
  readonly isWhole: boolean;
}

/**
 * Tools that a policy names and nobody has: a rule about one does nothing, and whoever wrote it meant it to. Where not all
 * tools are known, only what looks like one of them misspelt.
 */
export function unknownTools(
  policy: Policy,
  path: string,
  { names, servers, isWhole }: KnownTools,
): string[] {
  const parts = servers.map(serverPart);
  const lines = policy.layers.flatMap(({ rules }) =>
    rules.flatMap((rule) =>
      (rule.match.tool ?? []).flatMap((tool) => {
        if (isKnown(tool, rule, names) || isOfServer(tool, parts)) return [];
        const where = `${path}.${rule.source}[${rule.index}]`;
        if (isPattern(tool)) {
          // A pattern may be about tools that are yet to be known.
          const isCertain = isWhole && servers.length === 0;
          return isCertain ? [`${where} is ${shown(tool)}, which fits no tool of the agent`] : [];
        }
        const [near] = nearNames(tool, names);
        if (near === undefined && !isWhole) return [];
        const instead = near === undefined ? "" : `; did you mean ${near}?`;
        return [`${where} names ${shown(tool)}, which is no tool of the agent${instead}`];
      }),
    ),
  );
  const more = lines.length - MOST_SAID;
  return more <= 0 ? lines : [...lines.slice(0, MOST_SAID), `${path}: and ${more} more such names`];
}

const MOST_SAID = 10;

/** As rules compare it: one that does not allow takes upper and lower case for the same. */
function isKnown(tool: string, { action }: Rule, names: readonly string[]): boolean {
  const fits = action === "allow" ? fitsExactly : fitsAnySpelling;
  const pattern = spelled(tool);
  return names.some((name) => fits(pattern, spelled(name)));
}

function isPattern(tool: string): boolean {
  return /[*?]/.test(tool);
}

function isOfServer(tool: string, parts: readonly string[]): boolean {
  return parts.some((part) => tool.toLowerCase().startsWith(`${part.toLowerCase()}__`));
}
