import type { JsonObject } from "../domain/json.ts";
import type {
  ApprovalNote,
  MatchedRule,
  PolicyAction,
  PolicyContext,
} from "../domain/policy-decision.ts";
import { mayWrite } from "./call-effect.ts";
import { timesAtMost } from "./call-facts.ts";
import type { CompiledLayer } from "./compile-policy.ts";
import { refusalsOf } from "./guards.ts";
import { isAllowedPath } from "./path-places.ts";
import type { Matcher, Rule } from "../domain/policy.ts";

/** One thing that a policy has to say about a call. */
export interface Finding {
  readonly action: PolicyAction;
  readonly reason: string;
  readonly rule: MatchedRule | null;
  readonly labels: readonly string[];
  readonly approvers: number;
  readonly approval?: ApprovalNote;
}

/** All that one layer says, what stands first first. There is always something. */
export function findingsOf(
  compiled: CompiledLayer,
  call: PolicyContext,
  input: JsonObject,
): Finding[] {
  const { layer, rules, sensitive } = compiled;
  const refusals = refusalsOf(call, layer, sensitive);
  if (refusals.length > 0)
    return refusals.map(({ source, label, reason }) => refused(source, reason, label));
  const isBarred = call.commandUnparsed !== undefined && !layer.allowUnparsedCommands;
  const spoken = rules
    .filter(({ rule }) => !(isBarred && rule.action === "allow"))
    .filter(({ speaksOf }) => speaksOf(call, input))
    .map(({ rule }) => ruleFinding(rule, call));
  return [
    ...spoken,
    ...allowlistFindings(compiled, call),
    ...repeatFindings(compiled, call),
    ...(spoken.length === 0 ? [defaultFinding(compiled, call, isBarred)] : []),
  ];
}

/** A denial that is no rule's. */
export function refused(source: string, reason: string, label?: string): Finding {
  const rule = { source, action: "deny", id: null, index: 0 } as const;
  return { action: "deny", reason, rule, labels: label === undefined ? [] : [label], approvers: 0 };
}

function ruleFinding(rule: Rule, call: PolicyContext): Finding {
  const { source, index, id, action, match, approvers, approval } = rule;
  const labels = labelsOf(match);
  if (action === "deny") labels.push("matched_deny_rule");
  return {
    action,
    reason: reasonOf(rule, call),
    rule: { source, action, id, index },
    labels,
    approvers,
    ...(approval === null ? {} : { approval }),
  };
}

const VERBS = { allow: "allows", ask: "asks about", deny: "denies" } as const;

/** A rule's own sentence is about what it names, and nobody knows whether that is what a command runs that was not understood. */
function reasonOf({ source, index, id, action, match, reason }: Rule, call: PolicyContext): string {
  const place = `policy (${source}, entry ${index + 1})`;
  const speaksOfCommands = match.command !== undefined || match.commandIdentity !== undefined;
  if (!speaksOfCommands || call.commandUnparsed === undefined) {
    return reason ?? `${id ?? `The ${place}`} ${VERBS[action]} ${call.tool}`;
  }
  const own = reason === null ? "" : `, whose reason is: ${reason}`;
  return `It is not certain what the command runs: ${call.commandUnparsed}. It may be what ${id ?? `the ${place}`} ${VERBS[action]}${own}`;
}

function labelsOf(match: Matcher): string[] {
  const { path, command, commandIdentity, url, domain, method, mcpServer, mcpTool } = match;
  const given = (...keys: readonly unknown[]): boolean => keys.some((key) => key !== undefined);
  return [
    ...(given(path) ? ["path_rule"] : []),
    ...(given(command, commandIdentity) ? ["command_rule"] : []),
    ...(given(url, domain, method) ? ["network_rule"] : []),
    ...(given(mcpServer, mcpTool) ? ["mcp_rule"] : []),
    ...(given(match.repeatCountAtLeast) ? ["repeated_call"] : []),
  ];
}

/** A tool that writes has to say where, and every place has to be on the list. */
function allowlistFindings({ writePathAllowlist }: CompiledLayer, call: PolicyContext): Finding[] {
  if (writePathAllowlist === null || !mayWrite(call)) return [];
  const label = "write_path_not_allowed";
  const isUnclear = call.paths.length === 0 || call.pathsUnclear !== undefined;
  if (isUnclear || runsPrograms(call)) {
    const problem = isUnclear
      ? "does not say plainly where it writes"
      : "runs programs, which write anywhere";
    const reason = `${call.tool} ${problem}; the policy lists where writing is allowed`;
    return [refused("write_path_allowlist", reason, label)];
  }
  const refusedPath = call.paths.find((fact) => !isAllowedPath(writePathAllowlist, fact));
  if (refusedPath === undefined) return [];
  const where = refusedPath.workspacePath ?? refusedPath.input;
  const reason = `${JSON.stringify(where.slice(0, 200))} is not on the list of where writing is allowed`;
  return [refused("write_path_allowlist", reason, label)];
}

/** The folder where a program runs does not keep it there. */
function runsPrograms({ kind, sideEffect, command }: PolicyContext): boolean {
  return kind === "execute" || sideEffect === "process_exec" || command !== undefined;
}

function repeatFindings({ layer }: CompiledLayer, call: PolicyContext): Finding[] {
  const { repeatLimit, repeatAction } = layer;
  if (repeatLimit === null || timesAtMost(call) < repeatLimit) return [];
  const reason =
    call.repeats < repeatLimit
      ? `${call.tool} may have been called with these very arguments before: there were too many calls to remember`
      : `${call.tool} was called with these very arguments ${call.repeats} times before`;
  const rule = { source: "repeat_limit", action: repeatAction, id: null, index: 0 };
  return [{ action: repeatAction, reason, rule, labels: ["repeated_call"], approvers: 1 }];
}

function defaultFinding({ layer }: CompiledLayer, call: PolicyContext, isBarred: boolean): Finding {
  const none = { rule: null, labels: [], approvers: 1 };
  if (isBarred && layer.default !== "deny") {
    const reason = `It is not certain what the command runs: ${call.commandUnparsed}`;
    return { ...none, action: "ask", reason };
  }
  const reason = `No rule speaks of ${call.tool}; the default is to ${layer.default}`;
  return { ...none, action: layer.default, reason };
}
