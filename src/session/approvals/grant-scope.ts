import type { GrantScope } from "../../domain/agent-event.ts";
import type { MatchedRule, PolicyDecision } from "../../domain/policy-decision.ts";

/**
 * What a yes for good to this call is about: its tool, the rules that asked, and for a command that very command, which
 * the digest of its arguments says. Its text alone does not: white space in it was made equal.
 */
export function scopeOf({ context, rule, others }: PolicyDecision, digest: string): GrantScope {
  const { tool, kind, command } = context;
  const runsCommands = kind === "execute" || command !== undefined;
  return {
    tool,
    rule,
    ...(others !== undefined && { others }),
    ...(command !== undefined && { command }),
    ...(runsCommands && { digest }),
  };
}

/** A call is as one that was allowed where nothing asks about it that did not ask then. */
export function isWithin(wanted: GrantScope, granted: GrantScope): boolean {
  if (wanted.tool !== granted.tool || wanted.digest !== granted.digest) return false;
  const answered = rulesOf(granted);
  return rulesOf(wanted).every((rule) => answered.some((one) => isSameRule(one, rule)));
}

function rulesOf({ rule, others = [] }: GrantScope): readonly (MatchedRule | null)[] {
  return [rule, ...others];
}

/** A rule that changed its place or its name in the policy is another rule. */
function isSameRule(one: MatchedRule | null, other: MatchedRule | null): boolean {
  if (one === null || other === null) return one === other;
  const isSamePlace = one.source === other.source && one.index === other.index;
  return isSamePlace && one.id === other.id && one.layer === other.layer;
}
