import { isObject, type JsonObject } from "../../domain/json.ts";
import type { ApprovalNote, PolicyAction } from "../../domain/policy-decision.ts";
import { nearNames } from "../../domain/near-names.ts";
import { shown } from "../../domain/shown.ts";
import type { Rule } from "../../domain/policy.ts";
import { countAt, fieldsAt, oneOf, textAt, wrong, type Fields } from "./fields.ts";
import { jsonAt } from "./json-at.ts";
import { LONGEST, MOST } from "./limits.ts";
import { MATCHER_NAMES, readMatcher } from "./read-matcher.ts";

const ID = ["id", "name"];
const MATCH = ["match", "matches", "when"];
const SHORT = new Map<string, PolicyAction>([
  ["deny", "deny"],
  ["ask", "ask"],
  ["require_approval", "ask"],
  ["allow", "allow"],
]);
const NAMES = [...ID, "action", ...MATCH, ...SHORT.keys(), "reason", "approval"];

const ACTIONS = new Map<unknown, PolicyAction>([
  ...["allow", "approve", "auto_approve"].map((word) => [word, "allow"] as const),
  ...["ask", "approval", "require_approval", "requires_approval"].map(
    (word) => [word, "ask"] as const,
  ),
  ...["deny", "block", "auto_deny"].map((word) => [word, "deny"] as const),
]);

/** Reads one rule: `{action, match}`, or `{deny: matcher}` for short. */
export function readRule(value: unknown, path: string, index: number): Rule {
  refuseStrayKeys(value, path);
  const fields = fieldsAt(value, path, NAMES);
  const { action, match, matchPath } = readAction(fields, path);
  const idName = oneOf(fields, path, ID);
  const id =
    idName === undefined ? null : textAt(fields.get(idName), `${path}.${idName}`, LONGEST.id);
  const reason = fields.get("reason");
  const approval = fields.get("approval");
  if (approval !== undefined && action !== "ask")
    throw wrong(`${path}.approval`, `has no meaning in a rule that is to ${action}`);
  return {
    source: "rules",
    index,
    id,
    action,
    match: readMatcher(match, matchPath, action === "allow"),
    reason: reason === undefined ? null : textAt(reason, `${path}.reason`, LONGEST.text),
    ...readApproval(approval, `${path}.approval`),
  };
}

/** What a rule is about stands in its `match`, so that nobody reads it as something else. */
function refuseStrayKeys(value: unknown, path: string): void {
  const stray = isObject(value)
    ? Object.keys(value).find((key) => MATCHER_NAMES.includes(key))
    : undefined;
  if (stray !== undefined)
    throw wrong(
      `${path}.${stray}`,
      `stands beside what the rule matches; put it into ${path}.match`,
    );
}

interface ReadAction {
  readonly action: PolicyAction;
  readonly match: unknown;
  readonly matchPath: string;
}

function readAction(fields: Fields, path: string): ReadAction {
  const short = oneOf(fields, path, [...SHORT.keys()]);
  const matchName = oneOf(fields, path, MATCH);
  if (short !== undefined) {
    const beside = fields.has("action") ? "action" : matchName;
    if (beside !== undefined)
      throw wrong(
        `${path}.${short}`,
        `stands beside ${beside}; give ${short} alone, or action and match`,
      );
    const matchPath = `${path}.${short}`;
    return { action: SHORT.get(short) ?? "deny", match: fields.get(short), matchPath };
  }
  const action = readWord(fields.get("action"), `${path}.action`);
  if (matchName === undefined)
    throw wrong(`${path}.match`, "is missing; true stands for every call");
  return { action, match: fields.get(matchName), matchPath: `${path}.${matchName}` };
}

function readWord(word: unknown, path: string): PolicyAction {
  const action = ACTIONS.get(word);
  if (action !== undefined) return action;
  const [near] =
    typeof word === "string" ? nearNames(word.slice(0, 100), [...ACTIONS.keys()].map(String)) : [];
  const instead = near === undefined ? "" : `; did you mean ${near}?`;
  throw wrong(path, `is ${shown(word)}, wanted allow, ask or deny${instead}`);
}

function readApproval(
  value: unknown,
  path: string,
): { approvers: number; approval: ApprovalNote | null } {
  if (value === undefined) return { approvers: 1, approval: null };
  const fields = fieldsAt(value, path, ["prompt", "risk", "approvers", "metadata"]);
  const [prompt, risk, metadata] = ["prompt", "risk", "metadata"].map((name) => fields.get(name));
  const note: ApprovalNote = {
    ...(prompt === undefined ? {} : { prompt: textAt(prompt, `${path}.prompt`, LONGEST.text) }),
    ...(risk === undefined ? {} : { risk: textAt(risk, `${path}.risk`, LONGEST.id) }),
    ...(metadata === undefined ? {} : { metadata: dataAt(metadata, `${path}.metadata`) }),
  };
  const approvers = countAt(fields.get("approvers") ?? 1, `${path}.approvers`, 1, MOST.approvers);
  return { approvers, approval: Object.keys(note).length === 0 ? null : note };
}

function dataAt(value: unknown, path: string): JsonObject {
  const read = jsonAt(value, path);
  if (isObject(read)) return read;
  throw wrong(path, `is ${shown(value)}, wanted an object`);
}
