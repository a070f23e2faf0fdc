import type { Policy, RuleSource } from "./policy.ts";

/** The lists of a policy, as shown in a record of file changes. */
export interface PolicyLists {
  readonly autoApprove: readonly string[];
  readonly autoDeny: readonly string[];
  readonly requireApproval: readonly string[];
  /** Null: writes are unrestricted. */
  readonly writePathAllowlist: readonly string[] | null;
}

/**
 * Returns the lists of a policy as written, plus the tools of `ask` rules. For merged policies: the union of denied and
 * asked tools, and the intersection of allowed tools.
 */
export function readPolicyLists({ layers }: Policy): PolicyLists {
  const listNames = (source: RuleSource): string[][] =>
    layers.map(({ rules }) =>
      rules.filter((rule) => rule.source === source).flatMap(({ match }) => match.tool ?? []),
    );
  const allowlists = layers.flatMap((layer) =>
    layer.writePathAllowlist === null ? [] : [layer.writePathAllowlist],
  );
  return {
    autoApprove: intersectLists(listNames("auto_approve")),
    autoDeny: [...new Set(listNames("auto_deny").flat())],
    requireApproval: [
      ...new Set([...listNames("require_approval").flat(), ...listToolsToAsk(layers)]),
    ],
    writePathAllowlist: allowlists.length === 0 ? null : intersectLists(allowlists),
  };
}

/** A rule without a tool applies to any. A rule with further conditions asks about some calls of its tools. */
function listToolsToAsk(layers: Policy["layers"]): string[] {
  const askRules = layers.flatMap(({ rules }) =>
    rules.filter(({ source, action }) => source === "rules" && action === "ask"),
  );
  return askRules.flatMap(({ match }) => match.tool ?? ["*"]);
}

function intersectLists([first = [], ...others]: readonly (readonly string[])[]): string[] {
  return first.filter((name) => others.every((list) => list.includes(name)));
}
