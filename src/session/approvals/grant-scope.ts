import {
  formatPathTarget,
  type MatchedRule,
  type PolicyDecision,
} from "../../domain/policy/policy-decision.ts";
import type { GrantedPath, GrantScope } from "../../domain/events/approval-events.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/**
 * Returns the scope of a permanent grant for this call: the tool, the asking rules, and the arguments people must have
 * seen. The command alone does not suffice, because its whitespace is normalized.
 */
export function createGrantScope(decision: PolicyDecision, digest: string): GrantScope {
  const { context, rule, otherRules } = decision;
  const { tool, command, paths } = context;
  const width = resolveGrantWidth(decision);
  return {
    tool,
    rule,
    ...omitUndefined({ otherRules, command }),
    ...(width === "arguments" && { digest }),
    ...(width === "paths" && {
      paths: paths.map(({ argument, hostPath }) => ({ argument, hostPath })),
    }),
  };
}

/** Describes the scope of a grant for people. */
export function formatGrantScope(decision: PolicyDecision): string {
  const { context, rule } = decision;
  switch (resolveGrantWidth(decision)) {
    case "arguments":
      return `${context.tool} with just these arguments`;
    case "paths": {
      const places = context.paths.map(formatPathTarget);
      const named = [...new Set(places)].map((place) => place || ".").join(", ");
      return `${context.tool} of ${named.length <= MAX_NAME_LENGTH ? named : "just these paths"}`;
    }
    case "rule":
      return `${context.tool} wherever the rule ${rule?.id ?? `${rule?.source}[${rule?.index}]`} asks`;
    case "tool":
      return context.tool;
  }
}

const MAX_NAME_LENGTH = 120;

/**
 * Returns how far a grant extends:
 *
 * - `arguments`: the same arguments only, for tools with effects outside the workspace and for unclear paths.
 * - `tool`: every call of a read-only tool without paths.
 * - `rule`: every path for which the same path rule asks.
 * - `paths`: the same paths.
 */
function resolveGrantWidth({
  context,
  rule,
  otherRules: others,
  labels,
}: PolicyDecision): GrantWidth {
  const { kind, sideEffect, command, paths, pathsUnclear } = context;
  if (kind === "execute" || command !== undefined || !HARMLESS_EFFECTS.has(sideEffect))
    return "arguments";
  if (pathsUnclear !== undefined) return "arguments";
  if (paths.length === 0) return sideEffect === "workspace_write" ? "arguments" : "tool";
  const isAboutPaths = rule !== null && others === undefined && labels.includes("path_rule");
  return isAboutPaths ? "rule" : "paths";
}

type GrantWidth = "arguments" | "paths" | "rule" | "tool";

/**
 * Side effects limited to the workspace. Other tools run programs or access the network depending on their arguments;
 * so may a tool without declared traits.
 */
const HARMLESS_EFFECTS: ReadonlySet<string> = new Set(["none", "read_only", "workspace_write"]);

/**
 * Whether a grant covers a call: same tool, arguments and paths as far as the scope has them, and no further rule asks.
 */
export function isCoveredBy(requestedScope: GrantScope, grantedScope: GrantScope): boolean {
  if (requestedScope.tool !== grantedScope.tool || requestedScope.digest !== grantedScope.digest)
    return false;
  if (!hasSamePaths(requestedScope.paths, grantedScope.paths)) return false;
  const answered = listRules(grantedScope);
  return listRules(requestedScope).every((rule) =>
    answered.some((requestedRule) => isSameRule(requestedRule, rule)),
  );
}

function hasSamePaths(firstPaths: GrantScope["paths"], secondPaths: GrantScope["paths"]): boolean {
  if (firstPaths === undefined || secondPaths === undefined) return firstPaths === secondPaths;
  const isAt = (path: GrantedPath, at: number): boolean =>
    path.hostPath !== null &&
    path.hostPath === secondPaths[at]?.hostPath &&
    path.argument === secondPaths[at].argument;
  return firstPaths.length === secondPaths.length && firstPaths.every(isAt);
}

function listRules({ rule, otherRules: others = [] }: GrantScope): readonly (MatchedRule | null)[] {
  return [rule, ...others];
}

/** A rule with another position or name in the policy is a different rule. */
function isSameRule(firstRule: MatchedRule | null, secondRule: MatchedRule | null): boolean {
  if (firstRule === null || secondRule === null) return firstRule === secondRule;
  const isSamePlace =
    firstRule.source === secondRule.source && firstRule.index === secondRule.index;
  return isSamePlace && firstRule.id === secondRule.id && firstRule.layer === secondRule.layer;
}
