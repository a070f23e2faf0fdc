import type { PolicyAction } from "../../domain/policy/policy-decision.ts";
import { formatValue } from "../../text/format-value.ts";
import type { Policy, PolicyLayer, Rule, RuleSource } from "../../domain/policy/policy.ts";
import {
  readChoice,
  readInteger,
  readFields,
  readBoolean,
  readList,
  createPolicyError,
  type Fields,
} from "./read-fields.ts";
import { MAX_LENGTHS, MAX_COUNTS } from "./policy-limits.ts";
import { findPlainPathProblem } from "../matching/path-pattern.ts";
import { readNamePattern, readPathPattern, readPattern } from "./read-patterns.ts";
import { readRule } from "./read-rule.ts";

const POLICY_FIELDS = [
  "rules",
  "auto_approve",
  "auto_deny",
  "require_approval",
  "write_path_allowlist",
  "sensitive_path_patterns",
  "allow_sensitive_paths",
  "external_roots",
  "allow_external_paths",
  "allow_unparsed_commands",
  "repeat_limit",
  "repeat_action",
  "default",
];

/** Reads a policy document. Anything that it does not know, or that could not do what it says, is an error with its place. */
export function readPolicy(value: unknown, policyPath = "policy"): Policy {
  const fields = readFields(value, policyPath, POLICY_FIELDS);
  const lists = (["auto_deny", "require_approval", "auto_approve"] as const).flatMap((source) =>
    readToolList(fields.get(source), `${policyPath}.${source}`, source),
  );
  const limit = fields.get("repeat_limit");
  const layer: PolicyLayer = {
    rules: [...readRules(fields.get("rules"), `${policyPath}.rules`), ...lists],
    writePathAllowlist: readAllowlist(fields.get("write_path_allowlist"), policyPath),
    sensitivePathPatterns: readPaths(fields, "sensitive_path_patterns", policyPath),
    allowSensitivePaths: readBoolean(
      fields.get("allow_sensitive_paths"),
      `${policyPath}.allow_sensitive_paths`,
    ),
    externalRoots: readRoots(fields.get("external_roots"), `${policyPath}.external_roots`),
    allowExternalPaths: readBoolean(
      fields.get("allow_external_paths"),
      `${policyPath}.allow_external_paths`,
    ),
    allowUnparsedCommands: readBoolean(
      fields.get("allow_unparsed_commands"),
      `${policyPath}.allow_unparsed_commands`,
    ),
    repeatLimit:
      limit === undefined ? null : readInteger(limit, `${policyPath}.repeat_limit`, 1, 1_000_000),
    repeatAction: readChoice(fields.get("repeat_action") ?? "ask", `${policyPath}.repeat_action`, [
      "ask",
      "deny",
    ]),
    default: readChoice(fields.get("default") ?? "ask", `${policyPath}.default`, [
      "allow",
      "ask",
      "deny",
    ]),
  };
  return { layers: [layer] };
}

function readRules(value: unknown, path: string): Rule[] {
  if (value === undefined) return [];
  const rules = readList(value, path, MAX_COUNTS.rules).map((item, at) =>
    readRule(item, `${path}[${at}]`, at),
  );
  const indexById = new Map<string, number>();
  for (const { id, index } of rules) {
    if (id === null) continue;
    const earlierIndex = indexById.get(id);
    if (earlierIndex !== undefined)
      throw createPolicyError(
        `${path}[${index}].id`,
        `is ${formatValue(id)}, as that of rules[${earlierIndex}]`,
      );
    indexById.set(id, index);
  }
  return rules;
}

const ACTIONS: { readonly [Source in RuleSource]?: PolicyAction } = {
  auto_deny: "deny",
  require_approval: "ask",
  auto_approve: "allow",
};

/** A list of tools is a list of rules that name nothing else. */
function readToolList(value: unknown, path: string, source: RuleSource): Rule[] {
  if (value === undefined) return [];
  return readList(value, path, MAX_COUNTS.listed).map((pattern, index) => ({
    source,
    index,
    id: null,
    action: ACTIONS[source] ?? "deny",
    match: { tool: [readNamePattern(pattern, `${path}[${index}]`)] },
    reason: null,
    approvers: 1,
    approval: null,
  }));
}

/** Absent is no restriction, empty is nothing. */
function readAllowlist(value: unknown, parentPath: string): string[] | null {
  if (value === undefined) return null;
  const path = `${parentPath}.write_path_allowlist`;
  return readList(value, path, MAX_COUNTS.listed).map((pattern, at) => {
    const read = readPathPattern(pattern, `${path}[${at}]`);
    if (!read.startsWith("/")) return read;
    throw createPolicyError(
      `${path}[${at}]`,
      "begins with /; writing is allowed in the workspace only",
    );
  });
}

function readPaths(fields: Fields, name: string, parentPath: string): string[] {
  const value = fields.get(name);
  if (value === undefined) return [];
  const path = `${parentPath}.${name}`;
  return readList(value, path, MAX_COUNTS.listed).map((item, at) =>
    readPathPattern(item, `${path}[${at}]`),
  );
}

function readRoots(value: unknown, path: string): string[] {
  if (value === undefined) return [];
  return readList(value, path, MAX_COUNTS.listed).map((item, at) => {
    const rootValue = typeof item === "string" && item.length > 1 ? item.replace(/\/$/, "") : item;
    const root = readPattern(rootValue, `${path}[${at}]`, MAX_LENGTHS.text);
    if (/[*?{]/.test(root))
      throw createPolicyError(`${path}[${at}]`, "is a pattern; name the folder itself");
    const problem = findPlainPathProblem(root);
    if (problem !== undefined)
      throw createPolicyError(`${path}[${at}]`, `is ${formatValue(root)}, which ${problem}`);
    if (!root.startsWith("/"))
      throw createPolicyError(
        `${path}[${at}]`,
        `is ${formatValue(root)}, wanted a folder from the root of the machine`,
      );
    return root;
  });
}
