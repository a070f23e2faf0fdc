import { leadsTo } from "../../domain/policy-decision.ts";
import type { GrantedPath, GrantScope } from "../../domain/agent-event.ts";
import type { MatchedRule, PolicyDecision } from "../../domain/policy-decision.ts";

/**
 * What a yes for good to this call is about: its tool, the rules that asked, and as much of its arguments as people have
 * to have seen. Its command alone does not say that: white space in it was made equal.
 */
export function scopeOf(decision: PolicyDecision, digest: string): GrantScope {
  const { context, rule, others } = decision;
  const { tool, command, paths } = context;
  const width = widthOf(decision);
  return {
    tool,
    rule,
    ...(others !== undefined && { others }),
    ...(command !== undefined && { command }),
    ...(width === "arguments" && { digest }),
    ...(width === "paths" && {
      paths: paths.map(({ argument, hostPath }) => ({ argument, hostPath })),
    }),
  };
}

/** The same for people: what the tool may do from then on without a question. */
export function scopeText(decision: PolicyDecision): string {
  const { context, rule } = decision;
  switch (widthOf(decision)) {
    case "arguments":
      return `${context.tool} with just these arguments`;
    case "paths": {
      const places = context.paths.map(leadsTo);
      const named = [...new Set(places)].map((place) => place || ".").join(", ");
      return `${context.tool} of ${named.length <= LONGEST_NAMED ? named : "just these paths"}`;
    }
    case "rule":
      return `${context.tool} wherever the rule ${rule?.id ?? `${rule?.source}[${rule?.index}]`} asks`;
    case "tool":
      return context.tool;
  }
}

const LONGEST_NAMED = 120;

/** Who says which paths a rule asks about has said how far a yes to it goes; else it goes no further than what was shown. */
function widthOf({ context, rule, others, labels }: PolicyDecision): Width {
  const { kind, sideEffect, command, paths, pathsUnclear } = context;
  if (kind === "execute" || command !== undefined || !HARMLESS.has(sideEffect)) return "arguments";
  if (pathsUnclear !== undefined) return "arguments";
  if (paths.length === 0) return sideEffect === "workspace_write" ? "arguments" : "tool";
  const isAboutPaths = rule !== null && others === undefined && labels.includes("path_rule");
  return isAboutPaths ? "rule" : "paths";
}

type Width = "arguments" | "paths" | "rule" | "tool";

/** What runs programs or talks to others does what its arguments say, and so may a tool that says nothing of itself. */
const HARMLESS: ReadonlySet<string> = new Set(["none", "read_only", "workspace_write"]);

/** A call is as one that was allowed where nothing asks about it that did not ask then. */
export function isWithin(wanted: GrantScope, granted: GrantScope): boolean {
  if (wanted.tool !== granted.tool || wanted.digest !== granted.digest) return false;
  if (!areSamePaths(wanted.paths, granted.paths)) return false;
  const answered = rulesOf(granted);
  return rulesOf(wanted).every((rule) => answered.some((one) => isSameRule(one, rule)));
}

function areSamePaths(one: GrantScope["paths"], other: GrantScope["paths"]): boolean {
  if (one === undefined || other === undefined) return one === other;
  const isAt = (path: GrantedPath, at: number): boolean =>
    path.hostPath !== null &&
    path.hostPath === other[at]?.hostPath &&
    path.argument === other[at].argument;
  return one.length === other.length && one.every(isAt);
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
