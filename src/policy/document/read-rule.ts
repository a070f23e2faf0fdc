import { isObject, type JsonObject } from "../../data/json.ts";
import type { ApprovalNote, PolicyAction } from "../../domain/policy/policy-decision.ts";
import { suggestNames } from "../../text/suggest-name.ts";
import { formatValue } from "../../text/format-value.ts";
import type { Rule } from "../../domain/policy/policy.ts";
import {
  readInteger,
  readFields,
  findField,
  readString,
  createPolicyError,
  type Fields,
} from "./read-fields.ts";
import { readJson } from "./read-json.ts";
import { MAX_LENGTHS, MAX_COUNTS } from "./policy-limits.ts";
import { MATCHER_NAMES, readMatcher } from "./read-matcher.ts";

const ID_FIELDS = ["id", "name"];
const MATCH_FIELDS = ["match", "matches", "when"];
const SHORT_ACTIONS = new Map<string, PolicyAction>([
  ["deny", "deny"],
  ["ask", "ask"],
  ["require_approval", "ask"],
  ["allow", "allow"],
]);
const RULE_FIELDS = [
  ...ID_FIELDS,
  "action",
  ...MATCH_FIELDS,
  ...SHORT_ACTIONS.keys(),
  "reason",
  "approval",
];

const ACTIONS = new Map<unknown, PolicyAction>([
  ...["allow", "approve", "auto_approve"].map((word) => [word, "allow"] as const),
  ...["ask", "approval", "require_approval", "requires_approval"].map(
    (word) => [word, "ask"] as const,
  ),
  ...["deny", "block", "auto_deny"].map((word) => [word, "deny"] as const),
]);

/** Reads one rule: `{action, match}`, or `{deny: matcher}` for short. */
export function readRule(value: unknown, path: string, index: number): Rule {
  checkStrayKeys(value, path);
  const fields = readFields(value, path, RULE_FIELDS);
  const { action, match, matchPath } = readAction(fields, path);
  const idName = findField(fields, path, ID_FIELDS);
  const id =
    idName === undefined
      ? null
      : readString(fields.get(idName), `${path}.${idName}`, MAX_LENGTHS.id);
  const reason = fields.get("reason");
  const approval = fields.get("approval");
  if (approval !== undefined && action !== "ask")
    throw createPolicyError(`${path}.approval`, `has no meaning in a rule that is to ${action}`);
  return {
    source: "rules",
    index,
    id,
    action,
    match: readMatcher(match, matchPath, action === "allow"),
    reason: reason === undefined ? null : readString(reason, `${path}.reason`, MAX_LENGTHS.text),
    ...readApproval(approval, `${path}.approval`),
  };
}

/** What a rule is about stands in its `match`, so that nobody reads it as something else. */
function checkStrayKeys(value: unknown, path: string): void {
  const stray = isObject(value)
    ? Object.keys(value).find((key) => MATCHER_NAMES.includes(key))
    : undefined;
  if (stray !== undefined)
    throw createPolicyError(
      `${path}.${stray}`,
      `stands beside what the rule matches; put it into ${path}.match`,
    );
}

interface RuleAction {
  readonly action: PolicyAction;
  readonly match: unknown;
  readonly matchPath: string;
}

function readAction(fields: Fields, path: string): RuleAction {
  const short = findField(fields, path, [...SHORT_ACTIONS.keys()]);
  const matchName = findField(fields, path, MATCH_FIELDS);
  if (short !== undefined) {
    const conflictingField = fields.has("action") ? "action" : matchName;
    if (conflictingField !== undefined)
      throw createPolicyError(
        `${path}.${short}`,
        `stands beside ${conflictingField}; give ${short} alone, or action and match`,
      );
    const matchPath = `${path}.${short}`;
    return { action: SHORT_ACTIONS.get(short) ?? "deny", match: fields.get(short), matchPath };
  }
  const action = parseAction(fields.get("action"), `${path}.action`);
  if (matchName === undefined)
    throw createPolicyError(`${path}.match`, "is missing; true stands for every call");
  return { action, match: fields.get(matchName), matchPath: `${path}.${matchName}` };
}

function parseAction(word: unknown, path: string): PolicyAction {
  const action = ACTIONS.get(word);
  if (action !== undefined) return action;
  const [near] =
    typeof word === "string"
      ? suggestNames(word.slice(0, 100), [...ACTIONS.keys()].map(String))
      : [];
  const instead = near === undefined ? "" : `; did you mean ${near}?`;
  throw createPolicyError(path, `is ${formatValue(word)}, wanted allow, ask or deny${instead}`);
}

function readApproval(
  value: unknown,
  path: string,
): { approvers: number; approval: ApprovalNote | null } {
  if (value === undefined) return { approvers: 1, approval: null };
  const fields = readFields(value, path, ["prompt", "risk", "approvers", "metadata"]);
  const [prompt, risk, metadata] = ["prompt", "risk", "metadata"].map((name) => fields.get(name));
  const note: ApprovalNote = {
    ...(prompt === undefined
      ? {}
      : { prompt: readString(prompt, `${path}.prompt`, MAX_LENGTHS.text) }),
    ...(risk === undefined ? {} : { risk: readString(risk, `${path}.risk`, MAX_LENGTHS.id) }),
    ...(metadata === undefined ? {} : { metadata: readObject(metadata, `${path}.metadata`) }),
  };
  const approvers = readInteger(
    fields.get("approvers") ?? 1,
    `${path}.approvers`,
    1,
    MAX_COUNTS.approvers,
  );
  return { approvers, approval: Object.keys(note).length === 0 ? null : note };
}

function readObject(value: unknown, path: string): JsonObject {
  const read = readJson(value, path);
  if (isObject(read)) return read;
  throw createPolicyError(path, `is ${formatValue(value)}, wanted an object`);
}
