import type { PolicyAction } from "../../domain/policy/policy-decision.ts";
import { formatValue } from "../../text/format-value.ts";
import type { Policy, PolicyLayer, Rule, RuleSource } from "../../domain/policy/policy.ts";
import {
  array,
  boolean,
  integer,
  object,
  oneOf,
  refine,
  withDefault,
  type Schema,
} from "../../data/schema-reader.ts";
import { throwInvalid, throwProblem } from "../../data/schema-error.ts";
import { readOptions } from "../../domain/option-reader.ts";
import { MAX_LENGTHS, MAX_COUNTS } from "./policy-limits.ts";
import { findPlainPathProblem } from "../matching/path-pattern.ts";
import { readNamePattern, readPathPattern, readPattern } from "./read-patterns.ts";
import { readRule } from "./read-rule.ts";

/**
 * Reads a policy document. Throws `invalid_option` with the path of the field for unknown names and for values that
 * could never have their stated effect. `path` is the document's name in these errors.
 *
 * ```ts
 * const policy = readPolicy({
 *   default: "ask",
 *   auto_approve: ["read_*"],
 *   rules: [{ id: "no-force-push", deny: { command: "git push --force*" } }],
 * });
 * ```
 */
export function readPolicy(value: unknown, path = "policy"): Policy {
  return readOptions(POLICY_SCHEMA, value, path);
}

export const POLICY_SCHEMA: Schema<Policy> = (value, path) => {
  const { rules, auto_deny, require_approval, auto_approve, ...rest } = LAYER_SCHEMA(value, path);
  const layer: PolicyLayer = {
    rules: [...rules, ...auto_deny, ...require_approval, ...auto_approve],
    writePathAllowlist: rest.write_path_allowlist,
    sensitivePathPatterns: rest.sensitive_path_patterns,
    allowSensitivePaths: rest.allow_sensitive_paths,
    externalRoots: rest.external_roots,
    allowExternalPaths: rest.allow_external_paths,
    allowUnparsedCommands: rest.allow_unparsed_commands,
    repeatLimit: rest.repeat_limit,
    repeatAction: rest.repeat_action,
    default: rest.default,
  };
  return { layers: [layer] };
};

function listed<Item>(item: Schema<Item>): Schema<readonly Item[]> {
  return array(item, { max: MAX_COUNTS.listed });
}

/** Reads a list of tools as rules with the tool as their only condition. */
function createToolList(source: RuleSource, action: PolicyAction): Schema<readonly Rule[]> {
  return refine(withDefault(listed(readNamePattern), []), (tools) =>
    tools.map((tool, index) => ({
      source,
      index,
      id: null,
      action,
      match: { tool: [tool] },
      reason: null,
      approvers: 1,
      approval: null,
    })),
  );
}

const FLAG = withDefault(boolean(), false);

const LAYER_SCHEMA = object({
  rules: withDefault(readRules, []),
  auto_approve: createToolList("auto_approve", "allow"),
  auto_deny: createToolList("auto_deny", "deny"),
  require_approval: createToolList("require_approval", "ask"),
  // Null (absent) means no restriction; an empty list allows no writes.
  write_path_allowlist: withDefault(listed(readWorkspacePath), null),
  sensitive_path_patterns: withDefault(listed(readPathPattern), []),
  allow_sensitive_paths: FLAG,
  external_roots: withDefault(listed(readRoot), []),
  allow_external_paths: FLAG,
  allow_unparsed_commands: FLAG,
  repeat_limit: withDefault(integer({ min: 1, max: 1_000_000 }), null),
  repeat_action: withDefault(oneOf(["ask", "deny"]), "ask"),
  default: withDefault(oneOf(["allow", "ask", "deny"]), "ask"),
});

function readRules(value: unknown, path: string): readonly Rule[] {
  const items = array((item) => item, { max: MAX_COUNTS.rules })(value, path);
  const rules = items.map((item, at) => readRule(item, `${path}[${at}]`, at));
  const indexById = new Map<string, number>();
  for (const { id, index } of rules) {
    if (id === null) continue;
    const earlierIndex = indexById.get(id);
    if (earlierIndex !== undefined)
      throwProblem(
        `${path}[${index}].id`,
        `is ${formatValue(id)}, the same as that of rules[${earlierIndex}]`,
      );
    indexById.set(id, index);
  }
  return rules;
}

function readWorkspacePath(value: unknown, path: string): string {
  const pattern = readPathPattern(value, path);
  if (pattern.startsWith("/"))
    throwProblem(path, "begins with /: writing is allowed in the workspace only");
  return pattern;
}

function readRoot(value: unknown, path: string): string {
  const folder = typeof value === "string" && value.length > 1 ? value.replace(/\/$/, "") : value;
  const root = readPattern(folder, path, MAX_LENGTHS.text);
  if (/[*?{]/.test(root)) throwProblem(path, "is a pattern", "name the folder itself");
  const problem = findPlainPathProblem(root);
  if (problem !== undefined) throwProblem(path, `is ${formatValue(root)}, which ${problem}`);
  if (root.startsWith("/")) return root;
  return throwInvalid({ path, value: root, expected: "a folder from the root of the machine" });
}
