import type { Policy, RuleSource } from "./policy.ts";

/** The part of a policy that a record of what was changed shows. */
export interface ShownLists {
  readonly autoApprove: readonly string[];
  readonly autoDeny: readonly string[];
  readonly requireApproval: readonly string[];
  /** Null: writing is not restricted. */
  readonly writePathAllowlist: readonly string[] | null;
}

/** The lists of a policy as they were written. Of merged ones what any denies or asks about, and what all allow. */
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
    requireApproval: [...new Set(named("require_approval").flat())],
    writePathAllowlist: allowlists.length === 0 ? null : inAll(allowlists),
  };
}

function inAll([first = [], ...others]: readonly (readonly string[])[]): string[] {
  return first.filter((one) => others.every((list) => list.includes(one)));
}
