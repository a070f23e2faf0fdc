import type { Policy, RuleSource } from "./policy.ts";

/** The part of a policy that a record of what was changed shows. */
export interface ShownLists {
  readonly autoApprove: readonly string[];
  readonly autoDeny: readonly string[];
  readonly requireApproval: readonly string[];
  /** Null: writing is not restricted. */
  readonly writePathAllowlist: readonly string[] | null;
}

/**
 * The lists of a policy as they were written, with the tools that a rule asks about. Of merged policies: what any denies or
 * asks about, and what all allow.
 */
export function approvalLists({ layers }: Policy): ShownLists {
  const named = (source: RuleSource): string[][] =>
    layers.map(({ rules }) =>
      rules.filter((rule) => rule.source === source).flatMap(({ match }) => match.tool ?? []),
    );
  const allowlists = layers.flatMap((layer) =>
    layer.writePathAllowlist === null ? [] : [layer.writePathAllowlist],
  );
  return {
    autoApprove: inAll(named("auto_approve")),
    autoDeny: [...new Set(named("auto_deny").flat())],
    requireApproval: [...new Set([...named("require_approval").flat(), ...askedByRules(layers)])],
    writePathAllowlist: allowlists.length === 0 ? null : inAll(allowlists),
  };
}

/** A rule without a tool asks about any. A rule with more conditions asks about some calls of its tools. */
function askedByRules(layers: Policy["layers"]): string[] {
  const asking = layers.flatMap(({ rules }) =>
    rules.filter(({ source, action }) => source === "rules" && action === "ask"),
  );
  return asking.flatMap(({ match }) => match.tool ?? ["*"]);
}

function inAll([first = [], ...others]: readonly (readonly string[])[]): string[] {
  return first.filter((one) => others.every((list) => list.includes(one)));
}
