import { isObject, type JsonObject, type JsonValue } from "../../data/json.ts";
import type { ApprovalNote, PolicyAction } from "../../domain/policy/policy-decision.ts";
import type { Rule } from "../../domain/policy/policy.ts";
import {
  integer,
  members,
  object,
  optional,
  string,
  withDefault,
} from "../../data/schema-reader.ts";
import { throwInvalid, throwProblem } from "../../data/schema-error.ts";
import { readJson } from "./read-argument-tests.ts";
import { MAX_LENGTHS, MAX_COUNTS } from "./policy-limits.ts";
import { MATCHER_NAMES, readMatcher } from "./read-matcher.ts";
import { suggestFix } from "../../text/unknown-name.ts";

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

type Fields = { readonly [name: string]: unknown };

const ID = string({ isFilled: true, max: MAX_LENGTHS.id });
const TEXT = string({ isFilled: true, max: MAX_LENGTHS.text });

/** Reads a rule: `{action, match}`, or the short form `{deny: matcher}`. */
export function readRule(value: unknown, path: string, index: number): Rule {
  checkStrayKeys(value, path);
  const fields = members(RULE_FIELDS)(value, path);
  const { action, match, matchPath } = readAction(fields, path);
  const idName = findField(fields, path, ID_FIELDS);
  const { reason, approval } = fields;
  if (approval !== undefined && action !== "ask")
    throwProblem(`${path}.approval`, `has no meaning in a rule whose action is ${action}`);
  return {
    source: "rules",
    index,
    id: idName === undefined ? null : ID(fields[idName], `${path}.${idName}`),
    action,
    match: readMatcher(match, matchPath, action === "allow"),
    reason: reason === undefined ? null : TEXT(reason, `${path}.reason`),
    ...readApproval(approval, `${path}.approval`),
  };
}

/** Returns the used name of a field with several names. Throws if two names are used. */
function findField(fields: Fields, path: string, names: readonly string[]): string | undefined {
  const [first, second] = names.filter((name) => Object.hasOwn(fields, name));
  if (second !== undefined)
    throwProblem(`${path}.${second}`, `conflicts with ${first}`, "write only one of the two");
  return first;
}

/** Conditions must be inside `match`. A condition next to the action would look effective but be ignored. */
function checkStrayKeys(value: unknown, path: string): void {
  const stray = isObject(value)
    ? Object.keys(value).find((key) => MATCHER_NAMES.includes(key))
    : undefined;
  if (stray !== undefined)
    throwProblem(
      `${path}.${stray}`,
      "is outside the match of the rule",
      `put it into ${path}.match`,
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
    const conflictingField = Object.hasOwn(fields, "action") ? "action" : matchName;
    if (conflictingField !== undefined)
      throwProblem(
        `${path}.${short}`,
        `conflicts with ${conflictingField}`,
        `write ${short} alone, or action and match`,
      );
    const matchPath = `${path}.${short}`;
    return { action: SHORT_ACTIONS.get(short) ?? "deny", match: fields[short], matchPath };
  }
  const action = parseAction(fields["action"], `${path}.action`);
  if (matchName === undefined)
    return throwProblem(`${path}.match`, "is missing", "write true for every call");
  return { action, match: fields[matchName], matchPath: `${path}.${matchName}` };
}

function parseAction(word: unknown, path: string): PolicyAction {
  const action = ACTIONS.get(word);
  if (action !== undefined) return action;
  return throwInvalid({
    path,
    value: word,
    expected: "allow, ask or deny",
    fix: suggestFix(word, [...ACTIONS.keys()].map(String)),
  });
}

const APPROVAL_SCHEMA = object({
  prompt: optional(TEXT),
  risk: optional(ID),
  approvers: withDefault(integer({ min: 1, max: MAX_COUNTS.approvers }), 1),
  metadata: optional(readMetadata),
});

function readMetadata(value: unknown, path: string): JsonObject {
  const metadata = readJson(value, path);
  return isJsonObject(metadata) ? metadata : throwInvalid({ path, value, expected: "an object" });
}

function isJsonObject(value: JsonValue): value is JsonObject {
  return isObject(value);
}

function readApproval(
  value: unknown,
  path: string,
): { approvers: number; approval: ApprovalNote | null } {
  if (value === undefined) return { approvers: 1, approval: null };
  const { approvers, ...note } = APPROVAL_SCHEMA(value, path);
  return { approvers, approval: Object.keys(note).length === 0 ? null : note };
}
