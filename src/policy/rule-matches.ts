import type { JsonObject } from "../data/json.ts";
import type {
  ApprovalNote,
  MatchedRule,
  PolicyAction,
  PolicyContext,
} from "../domain/policy/policy-decision.ts";
import { mayWrite } from "./facts/tool-call-effect.ts";
import { maxRepeats } from "./facts/tool-call-facts.ts";
import type { CompiledLayer } from "./compile-policy.ts";
import { checkPaths } from "./path-check.ts";
import { isAllowedPath } from "./matching/path-matching.ts";
import type { Matcher, Rule } from "../domain/policy/policy.ts";

/** One thing that a policy has to say about a call. */
export interface RuleMatch {
  readonly action: PolicyAction;
  readonly reason: string;
  readonly rule: MatchedRule | null;
  readonly labels: readonly string[];
  readonly approvers: number;
  readonly approval?: ApprovalNote;
}

/** All that one layer says, what stands first first. There is always something. */
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

/** A denial that is no rule's. */
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

/** A rule's own sentence is about what it names, and nobody knows whether that is what a command runs that was not understood. */
function formatReason(
  { source, index, id, action, match, reason }: Rule,
  call: PolicyContext,
): string {
  const location = `policy (${source}, entry ${index + 1})`;
  const speaksOfCommands = match.command !== undefined || match.commandIdentity !== undefined;
  if (!speaksOfCommands || call.commandUnparsed === undefined) {
    return reason ?? `${id ?? `The ${location}`} ${VERBS[action]} ${call.tool}`;
  }
  const ruleReason = reason === null ? "" : `, whose reason is: ${reason}`;
  return `It is not certain what the command runs: ${call.commandUnparsed}. It may be what ${id ?? `the ${location}`} ${VERBS[action]}${ruleReason}`;
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

/** A tool that writes has to say where, and every place has to be on the list. */
function matchAllowlist({ writePathAllowlist }: CompiledLayer, call: PolicyContext): RuleMatch[] {
  if (writePathAllowlist === null || !mayWrite(call)) return [];
  const label = "write_path_not_allowed";
  const isUnclear = call.paths.length === 0 || call.pathsUnclear !== undefined;
  if (isUnclear || runsPrograms(call)) {
    const problem = isUnclear
      ? "does not say plainly where it writes"
      : "runs programs, which write anywhere";
    const reason = `${call.tool} ${problem}; the policy lists where writing is allowed`;
    return [createDenial("write_path_allowlist", reason, label)];
  }
  const refusedPath = call.paths.find((fact) => !isAllowedPath(writePathAllowlist, fact));
  if (refusedPath === undefined) return [];
  const where = refusedPath.workspacePath ?? refusedPath.input;
  const reason = `${JSON.stringify(where.slice(0, 200))} is not on the list of where writing is allowed`;
  return [createDenial("write_path_allowlist", reason, label)];
}

/** The folder where a program runs does not keep it there. */
function runsPrograms({ kind, sideEffect, command }: PolicyContext): boolean {
  return kind === "execute" || sideEffect === "process_exec" || command !== undefined;
}

function matchRepeatLimit({ layer }: CompiledLayer, call: PolicyContext): RuleMatch[] {
  const { repeatLimit, repeatAction } = layer;
  if (repeatLimit === null || maxRepeats(call) < repeatLimit) return [];
  const reason =
    call.repeats < repeatLimit
      ? `${call.tool} may have been called with these very arguments before: there were too many calls to remember`
      : `${call.tool} was called with these very arguments ${call.repeats} times before`;
  const rule = { source: "repeat_limit", action: repeatAction, id: null, index: 0 };
  return [{ action: repeatAction, reason, rule, labels: ["repeated_call"], approvers: 1 }];
}

function matchDefault({ layer }: CompiledLayer, call: PolicyContext, isBarred: boolean): RuleMatch {
  const none = { rule: null, labels: [], approvers: 1 };
  if (isBarred && layer.default !== "deny") {
    const reason = `It is not certain what the command runs: ${call.commandUnparsed}`;
    return { ...none, action: "ask", reason };
  }
  const reason = `No rule speaks of ${call.tool}; the default is to ${layer.default}`;
  return { ...none, action: layer.default, reason };
}
