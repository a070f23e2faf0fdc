import type { PolicyAction } from "../../domain/policy-decision.ts";
import { shown } from "../../domain/shown.ts";
import type { Policy, PolicyLayer, Rule, RuleSource } from "../../domain/policy.ts";
import { choiceAt, countAt, fieldsAt, flagAt, listAt, wrong, type Fields } from "./fields.ts";
import { LONGEST, MOST } from "./limits.ts";
import { problemWithPlainPath } from "../path-pattern.ts";
import { namePatternAt, pathPatternAt, patternAt } from "./read-patterns.ts";
import { readRule } from "./read-rule.ts";

const NAMES = [
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
export function readPolicy(value: unknown, where = "policy"): Policy {
  const fields = fieldsAt(value, where, NAMES);
  const lists = (["auto_deny", "require_approval", "auto_approve"] as const).flatMap((source) =>
    readList(fields.get(source), `${where}.${source}`, source),
  );
  const limit = fields.get("repeat_limit");
  const layer: PolicyLayer = {
    rules: [...readRules(fields.get("rules"), `${where}.rules`), ...lists],
    writePathAllowlist: readAllowlist(fields.get("write_path_allowlist"), where),
    sensitivePathPatterns: readPaths(fields, "sensitive_path_patterns", where),
    allowSensitivePaths: flagAt(
      fields.get("allow_sensitive_paths"),
      `${where}.allow_sensitive_paths`,
    ),
    externalRoots: readRoots(fields.get("external_roots"), `${where}.external_roots`),
    allowExternalPaths: flagAt(fields.get("allow_external_paths"), `${where}.allow_external_paths`),
    allowUnparsedCommands: flagAt(
      fields.get("allow_unparsed_commands"),
      `${where}.allow_unparsed_commands`,
    ),
    repeatLimit: limit === undefined ? null : countAt(limit, `${where}.repeat_limit`, 1, 1_000_000),
    repeatAction: choiceAt(fields.get("repeat_action") ?? "ask", `${where}.repeat_action`, [
      "ask",
      "deny",
    ]),
    default: choiceAt(fields.get("default") ?? "ask", `${where}.default`, ["allow", "ask", "deny"]),
  };
  return { layers: [layer] };
}

function readRules(value: unknown, path: string): Rule[] {
  if (value === undefined) return [];
  const rules = listAt(value, path, MOST.rules).map((one, at) =>
    readRule(one, `${path}[${at}]`, at),
  );
  const seen = new Map<string, number>();
  for (const { id, index } of rules) {
    if (id === null) continue;
    const before = seen.get(id);
    if (before !== undefined)
      throw wrong(`${path}[${index}].id`, `is ${shown(id)}, as that of rules[${before}]`);
    seen.set(id, index);
  }
  return rules;
}

const ACTIONS: { readonly [Source in RuleSource]?: PolicyAction } = {
  auto_deny: "deny",
  require_approval: "ask",
  auto_approve: "allow",
};

/** A list of tools is a list of rules that name nothing else. */
function readList(value: unknown, path: string, source: RuleSource): Rule[] {
  if (value === undefined) return [];
  return listAt(value, path, MOST.listed).map((pattern, index) => ({
    source,
    index,
    id: null,
    action: ACTIONS[source] ?? "deny",
    match: { tool: [namePatternAt(pattern, `${path}[${index}]`)] },
    reason: null,
    approvers: 1,
    approval: null,
  }));
}

/** Absent is no restriction, empty is nothing. */
function readAllowlist(value: unknown, where: string): string[] | null {
  if (value === undefined) return null;
  const path = `${where}.write_path_allowlist`;
  return listAt(value, path, MOST.listed).map((pattern, at) => {
    const read = pathPatternAt(pattern, `${path}[${at}]`);
    if (!read.startsWith("/")) return read;
    throw wrong(`${path}[${at}]`, "begins with /; writing is allowed in the workspace only");
  });
}

function readPaths(fields: Fields, name: string, where: string): string[] {
  const value = fields.get(name);
  if (value === undefined) return [];
  const path = `${where}.${name}`;
  return listAt(value, path, MOST.listed).map((one, at) => pathPatternAt(one, `${path}[${at}]`));
}

function readRoots(value: unknown, path: string): string[] {
  if (value === undefined) return [];
  return listAt(value, path, MOST.listed).map((one, at) => {
    const given = typeof one === "string" && one.length > 1 ? one.replace(/\/$/, "") : one;
    const root = patternAt(given, `${path}[${at}]`, LONGEST.text);
    if (/[*?{]/.test(root)) throw wrong(`${path}[${at}]`, "is a pattern; name the folder itself");
    const problem = problemWithPlainPath(root);
    if (problem !== undefined) throw wrong(`${path}[${at}]`, `is ${shown(root)}, which ${problem}`);
    if (!root.startsWith("/"))
      throw wrong(
        `${path}[${at}]`,
        `is ${shown(root)}, wanted a folder from the root of the machine`,
      );
    return root;
  });
}
