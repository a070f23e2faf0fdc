import type { JsonObject } from "../data/json.ts";
import type {
  ApprovalNote,
  MatchedRule,
  PolicyAction,
  PolicyContext,
} from "../domain/policy/policy-decision.ts";
import { mayWrite } from "./facts/tool-call-effect.ts";
import { computeMaxRepeats } from "./facts/tool-call-facts.ts";
import type { CompiledLayer } from "./compile-policy.ts";
import { checkPaths } from "./path-check.ts";
import { isAllowedPath } from "./matching/path-matching.ts";
import type { Matcher, Rule } from "../domain/policy/policy.ts";

/** A rule, check or default which applies to a tool call. */
export interface RuleMatch {
  readonly action: PolicyAction;
  readonly reason: string;
  readonly rule: MatchedRule | null;
  readonly labels: readonly string[];
  readonly approvers: number;
  readonly approval?: ApprovalNote;
}

/** All matches of one layer, in the order of the policy document. Never empty. */
export function collectRuleMatches(
  compiled: CompiledLayer,
  call: PolicyContext,
  input: JsonObject,
): RuleMatch[] {
  const { layer, rules, sensitive } = compiled;
  const refusals = checkPaths(call, layer, sensitive);
  if (refusals.length > 0)
    return refusals.map(({ source, label, reason }) => createDenial(source, reason, label));
  const isBarred = call.commandUnparsed !== undefined && !layer.allowUnparsedCommands;
  const matchedRules = rules
    .filter(({ rule }) => !(isBarred && rule.action === "allow"))
    .filter(({ matches }) => matches(call, input))
    .map(({ rule }) => createRuleMatch(rule, call));
  return [
    ...matchedRules,
    ...matchAllowlist(compiled, call),
    ...matchRepeatLimit(compiled, call),
    ...(matchedRules.length === 0 ? [matchDefault(compiled, call, isBarred)] : []),
  ];
}

/** A denial by a check rather than by a rule of the policy. */
export function createDenial(source: string, reason: string, label?: string): RuleMatch {
  const rule = { source, action: "deny", id: null, index: 0 } as const;
  return { action: "deny", reason, rule, labels: label === undefined ? [] : [label], approvers: 0 };
}

function createRuleMatch(rule: Rule, call: PolicyContext): RuleMatch {
  const { source, index, id, action, match, approvers, approval } = rule;
  const labels = collectLabels(match);
  if (action === "deny") labels.push("matched_deny_rule");
  return {
    action,
    reason: formatReason(rule, call),
    rule: { source, action, id, index },
    labels,
    approvers,
    ...(approval === null ? {} : { approval }),
  };
}

const VERBS = { allow: "allows", ask: "asks about", deny: "denies" } as const;

/**
 * A rule's `reason` describes the rule's own pattern. For a command which was not fully analyzed, the sentence says
 * that the match is only possible, not certain.
 */
function formatReason(
  { source, index, id, action, match, reason }: Rule,
  call: PolicyContext,
): string {
  const location = `policy (${source}, entry ${index + 1})`;
  const speaksOfCommands = match.command !== undefined || match.commandIdentity !== undefined;
  if (!speaksOfCommands || call.commandUnparsed === undefined) {
    return reason ?? `${id ?? `The ${location}`} ${VERBS[action]} ${call.tool}`;
  }
  const ruleReason = reason === null ? "" : `, with the reason: ${reason}`;
  return `The command could not be fully analyzed: ${call.commandUnparsed}. It may match ${id ?? `the ${location}`}, which ${VERBS[action]} it${ruleReason}`;
}

function collectLabels(match: Matcher): string[] {
  const { path, command, commandIdentity, url, domain, method, mcpServer, mcpTool } = match;
  const isPresent = (...keys: readonly unknown[]): boolean => keys.some((key) => key !== undefined);
  return [
    ...(isPresent(path) ? ["path_rule"] : []),
    ...(isPresent(command, commandIdentity) ? ["command_rule"] : []),
    ...(isPresent(url, domain, method) ? ["network_rule"] : []),
    ...(isPresent(mcpServer, mcpTool) ? ["mcp_rule"] : []),
    ...(isPresent(match.repeatCountAtLeast) ? ["repeated_call"] : []),
  ];
}

/** A writing tool must name its paths, and every path must be on the allowlist. */
function matchAllowlist({ writePathAllowlist }: CompiledLayer, call: PolicyContext): RuleMatch[] {
  if (writePathAllowlist === null || !mayWrite(call)) return [];
  const label = "write_path_not_allowed";
  const isUnclear = call.paths.length === 0 || call.pathsUnclear !== undefined;
  if (isUnclear || runsPrograms(call)) {
    const problem = isUnclear
      ? "does not name clearly which paths it writes"
      : "runs programs, which can write anywhere";
    const reason = `${call.tool} ${problem}; the policy limits writing to its write_path_allowlist`;
    return [createDenial("write_path_allowlist", reason, label)];
  }
  const refusedPath = call.paths.find((fact) => !isAllowedPath(writePathAllowlist, fact));
  if (refusedPath === undefined) return [];
  const where = refusedPath.workspacePath ?? refusedPath.input;
  const reason = `${JSON.stringify(where.slice(0, 200))} is not on the write_path_allowlist of the policy`;
  return [createDenial("write_path_allowlist", reason, label)];
}

/** A program is not confined to its working directory, so a listed `cwd` proves nothing. */
function runsPrograms({ kind, sideEffect, command }: PolicyContext): boolean {
  return kind === "execute" || sideEffect === "process_exec" || command !== undefined;
}

function matchRepeatLimit({ layer }: CompiledLayer, call: PolicyContext): RuleMatch[] {
  const { repeatLimit, repeatAction } = layer;
  if (repeatLimit === null || computeMaxRepeats(call) < repeatLimit) return [];
  const reason =
    call.repeats < repeatLimit
      ? `${call.tool} may have been called with the same arguments before: there were too many calls to count`
      : `${call.tool} was called with the same arguments ${call.repeats} times before`;
  const rule = { source: "repeat_limit", action: repeatAction, id: null, index: 0 };
  return [{ action: repeatAction, reason, rule, labels: ["repeated_call"], approvers: 1 }];
}

function matchDefault({ layer }: CompiledLayer, call: PolicyContext, isBarred: boolean): RuleMatch {
  const none = { rule: null, labels: [], approvers: 1 };
  if (isBarred && layer.default !== "deny") {
    const reason = `The command could not be fully analyzed: ${call.commandUnparsed}`;
    return { ...none, action: "ask", reason };
  }
  const reason = `No rule matches ${call.tool}; the default is to ${layer.default}`;
  return { ...none, action: layer.default, reason };
}
