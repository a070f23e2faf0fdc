import { isObject, toJsonText, type JsonObject, type JsonValue } from "../../data/json.ts";
import { formatValue } from "../../text/format-value.ts";

/** The runtime tool with which an agent hands work over. */
export const EMIT_HANDOFF_TOOL = "emit_handoff";

/**
 * Work handed over to another agent or to a person. The names are the names of the bridge protocol, because hosts
 * receive the value unchanged. Every field is present; an unknown value is null.
 */
export interface Handoff {
  readonly _type: "handoff_artifact";
  readonly id: string;
  readonly kind: "handoff";
  /** The turn in which the work was handed over. */
  readonly parent_run_id: string | null;
  readonly source_persona: string;
  readonly target_persona_or_human: HandoffTarget;
  readonly task: string;
  readonly reason: string;
  readonly evidence_refs: readonly (string | JsonObject)[];
  readonly files_or_entities_touched: readonly string[];
  readonly open_questions: readonly string[];
  readonly blocked_on: readonly string[];
  readonly requested_capabilities: readonly string[];
  readonly allowed_side_effects: readonly string[];
  readonly budget_remaining: HandoffBudget | null;
  /** When the target should report back: a time or a description. */
  readonly deadline_checkback: string | null;
  /** From 0 to 1. */
  readonly confidence: number | null;
  readonly receipt_links: readonly string[];
  readonly route_decision: JsonObject | null;
  /** RFC 3339, UTC. */
  readonly created_at: string;
  readonly metadata: JsonObject;
}

export interface HandoffTarget {
  readonly kind: "persona" | "human";
  readonly id: string;
  readonly label: string;
  readonly uri: string | null;
}

/** Absent amounts are unknown. */
export interface HandoffBudget {
  readonly tokens?: number;
  readonly tool_calls?: number;
  readonly dollars?: number;
}

/** The part of a handoff which its author writes. The session adds the other fields. */
export type HandoffRequest = Pick<
  Handoff,
  "target_persona_or_human" | "task" | "reason" | HandoffList | HandoffDetail
> & { readonly source_persona: string | null };

type HandoffList =
  | "evidence_refs"
  | "files_or_entities_touched"
  | "open_questions"
  | "blocked_on"
  | "requested_capabilities"
  | "allowed_side_effects"
  | "receipt_links";
type HandoffDetail =
  | "budget_remaining"
  | "deadline_checkback"
  | "confidence"
  | "route_decision"
  | "metadata";

/** Limits of a handoff. Every client receives the whole handoff. */
export const MAX_HANDOFF_TEXT = 8000;
export const MAX_HANDOFF_ITEMS = 100;
const MAX_ITEM_LENGTH = 2000;
/** Characters of the whole request as JSON. */
const MAX_HANDOFF_LENGTH = 64 * 1024;

const TEXT_LISTS = [
  "files_or_entities_touched",
  "open_questions",
  "blocked_on",
  "requested_capabilities",
  "allowed_side_effects",
  "receipt_links",
] as const;

const REQUEST_KEYS: ReadonlySet<string> = new Set([
  "source_persona",
  "target_persona_or_human",
  "task",
  "reason",
  "evidence_refs",
  ...TEXT_LISTS,
  "budget_remaining",
  "deadline_checkback",
  "confidence",
  "route_decision",
  "metadata",
]);

type ReadHandoff =
  | { readonly ok: true; readonly request: HandoffRequest }
  | { readonly ok: false; readonly problem: string };

/** Thrown within this file only. Its message is the problem. */
class HandoffProblem extends Error {}

/**
 * Reads a handoff request. The problem names the field. List items are trimmed and unique, and empty items are dropped.
 */
export function readHandoffRequest(value: unknown): ReadHandoff {
  try {
    return { ok: true, request: parseRequest(value) };
  } catch (error) {
    if (error instanceof HandoffProblem) return { ok: false, problem: error.message };
    throw error;
  }
}

function parseRequest(value: unknown): HandoffRequest {
  if (!isJsonObject(value)) return fail("a handoff", value, "an object");
  const unknownKey = Object.keys(value).find((key) => !REQUEST_KEYS.has(key));
  if (unknownKey !== undefined)
    throw new HandoffProblem(`${formatValue(unknownKey)} is not a field of a handoff`);
  if (toJsonText(value).length > MAX_HANDOFF_LENGTH)
    throw new HandoffProblem(`the handoff is longer than ${MAX_HANDOFF_LENGTH} characters as JSON`);
  const list = (name: (typeof TEXT_LISTS)[number]): readonly string[] =>
    readTexts(value[name], name);
  return {
    source_persona: readText(value["source_persona"], "source_persona"),
    target_persona_or_human: readTarget(value["target_persona_or_human"]),
    task: readText(value["task"], "task") ?? fail("task", value["task"], "a filled string"),
    reason: readText(value["reason"], "reason") ?? "",
    evidence_refs: readEvidence(value["evidence_refs"]),
    files_or_entities_touched: list("files_or_entities_touched"),
    open_questions: list("open_questions"),
    blocked_on: list("blocked_on"),
    requested_capabilities: list("requested_capabilities"),
    allowed_side_effects: list("allowed_side_effects"),
    budget_remaining: readBudget(value["budget_remaining"]),
    deadline_checkback: readText(value["deadline_checkback"], "deadline_checkback"),
    confidence: readConfidence(value["confidence"]),
    receipt_links: list("receipt_links"),
    route_decision: readOptionalObject(value["route_decision"], "route_decision"),
    metadata: readOptionalObject(value["metadata"], "metadata") ?? {},
  };
}

function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}

function fail(name: string, value: unknown, expected: string): never {
  throw new HandoffProblem(`${name} is ${formatValue(value)}: expected ${expected}`);
}

/** Null for an absent or empty string. */
function readText(value: unknown, name: string): string | null {
  if (value === undefined || value === null) return null;
  const isText = typeof value === "string" && value.length <= MAX_HANDOFF_TEXT;
  if (!isText) return fail(name, value, `a string of at most ${MAX_HANDOFF_TEXT} characters`);
  const text = value.trim();
  return text === "" ? null : text;
}

/** A string names a persona. */
function readTarget(value: unknown): HandoffTarget {
  const name = "target_persona_or_human";
  if (typeof value === "string") return readTarget({ id: value });
  if (!isObject(value)) return fail(name, value, "a name, or an object with kind and id");
  const { kind = "persona", id, label, uri } = value;
  if (kind !== "persona" && kind !== "human")
    return fail(`${name}.kind`, kind, '"persona" or "human"');
  const targetId = readText(id ?? label, `${name}.id`) ?? fail(`${name}.id`, id, "a filled string");
  return {
    kind,
    id: targetId,
    label: readText(label, `${name}.label`) ?? targetId,
    uri: readText(uri, `${name}.uri`),
  };
}

function readItems(value: unknown, name: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (typeof value === "string") return [value];
  if (Array.isArray(value) && value.length <= MAX_HANDOFF_ITEMS) return value;
  return fail(name, value, `a list of at most ${MAX_HANDOFF_ITEMS} items`);
}

function readTexts(value: unknown, name: string): readonly string[] {
  const texts = readItems(value, name).map((item, at) => readItem(item, `${name}[${at}]`));
  return [...new Set(texts.filter((text) => text !== ""))];
}

function readItem(item: unknown, name: string): string {
  return typeof item === "string" && item.length <= MAX_ITEM_LENGTH
    ? item.trim()
    : fail(name, item, `a string of at most ${MAX_ITEM_LENGTH} characters`);
}

/** A reference is a string, or an object with `kind` and `ref` as in an approval request. */
function readEvidence(value: unknown): Handoff["evidence_refs"] {
  const name = "evidence_refs";
  const items = readItems(value, name).map((item, at): readonly [string, string | JsonObject] => {
    if (!isJsonObject(item)) {
      const text = readItem(item, `${name}[${at}]`);
      return [text, text];
    }
    return typeof item["ref"] === "string"
      ? [toJsonText(item), item]
      : fail(`${name}[${at}].ref`, item["ref"], "a string");
  });
  return [...new Map(items.filter(([key]) => key !== "")).values()];
}

function readBudget(value: unknown): HandoffBudget | null {
  const name = "budget_remaining";
  if (value === undefined || value === null) return null;
  if (!isObject(value)) return fail(name, value, "an object");
  const amounts = Object.entries(value).map(([unit, amount]): readonly [string, number] => {
    if (unit !== "tokens" && unit !== "tool_calls" && unit !== "dollars")
      throw new HandoffProblem(`${name} has no field ${formatValue(unit)}`);
    return typeof amount === "number" && Number.isFinite(amount) && amount >= 0
      ? [unit, amount]
      : fail(`${name}.${unit}`, amount, "a number, at least 0");
  });
  return Object.fromEntries(amounts);
}

function readConfidence(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  return typeof value === "number" && value >= 0 && value <= 1
    ? value
    : fail("confidence", value, "a number from 0 to 1");
}

function readOptionalObject(value: JsonValue | undefined, name: string): JsonObject | null {
  if (value === undefined || value === null) return null;
  return isJsonObject(value) ? value : fail(name, value, "an object");
}

/** A handoff in one line, for people. */
export function formatHandoff({ target_persona_or_human: target, task }: Handoff): string {
  return `Handoff to ${target.label}: ${task}`;
}
