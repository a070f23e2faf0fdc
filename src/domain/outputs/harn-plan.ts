import { isObject, toJsonText, type JsonObject, type JsonValue } from "../../data/json.ts";
import {
  MAX_ENTRIES,
  MAX_ENTRY_LENGTH,
  PLAN_PRIORITIES,
  type PlanEntry,
  type PlanPriority,
  type PlanStatus,
} from "./plan.ts";

export const EMIT_PLAN_TOOL = "emit_plan";
export const UPDATE_PLAN_TOOL = "update_plan";

/**
 * A plan in the form `harn.plan.v1` of the bridge protocol, whose names hosts know. The id is `plan_` and 12 digits of
 * the SHA-256 of the other fields as canonical JSON.
 */
export interface HarnPlan extends HarnPlanContent {
  readonly id: string;
}

export interface HarnPlanContent {
  readonly _type: "plan_artifact";
  readonly schema_version: "harn.plan.v1";
  /** The tool which wrote the plan. */
  readonly tool: string;
  readonly title: string;
  readonly summary: string;
  readonly steps: readonly HarnPlanStep[];
  readonly assumptions: readonly string[];
  readonly open_questions: readonly string[];
  readonly verification_commands: readonly string[];
  readonly approval: HarnPlanApproval;
}

export interface HarnPlanStep {
  readonly id: string;
  readonly content: string;
  readonly status: PlanStatus;
  readonly priority: PlanPriority | null;
}

/** The approval of a plan as stated by its author. The session grants nothing because of it. */
export interface HarnPlanApproval {
  readonly state: "unrequested" | "requested" | "approved" | "rejected";
  readonly request_id?: JsonValue;
  readonly reviewer?: JsonValue;
  readonly reviewers?: JsonValue;
  readonly approved_at?: JsonValue;
  readonly reason?: JsonValue;
}

const MAX_SUMMARY_LENGTH = 4000;
const MAX_TITLE_LENGTH = 200;
const MAX_APPROVAL_LENGTH = 4000;

/**
 * Normalizes the arguments of a plan tool. Reads leniently: synonyms of fields and statuses are known, texts are steps,
 * invalid steps are skipped, and excess steps and text are cut.
 */
export function normalizePlan(tool: string, input: JsonObject): HarnPlanContent {
  const { plan } = input;
  const source: JsonObject = isJsonObject(plan) ? plan : input;
  return {
    _type: "plan_artifact",
    schema_version: "harn.plan.v1",
    tool,
    title: cut(readText(source, TITLES) ?? "Plan", MAX_TITLE_LENGTH),
    summary: cut(
      readText(input, SUMMARIES) ?? readText(source, SUMMARIES) ?? "",
      MAX_SUMMARY_LENGTH,
    ),
    steps: readSteps(source),
    assumptions: readTexts(source, ["assumptions"]),
    open_questions: readTexts(source, ["open_questions", "questions", "unknowns"]),
    verification_commands: readTexts(source, [
      "verification_commands",
      "verification",
      "verify_commands",
    ]),
    approval: readApproval(source["approval"] ?? input["approval"]),
  };
}

const TITLES = ["title", "name"];
const SUMMARIES = ["explanation", "summary", "direction"];
const STEP_LISTS = ["steps", "entries", "plan", "tasks"];
const STEP_TEXTS = ["content", "step", "task", "goal", "description"];

const STATUS_SYNONYMS: ReadonlyMap<string, PlanStatus> = new Map([
  ["pending", "pending"],
  ["todo", "pending"],
  ["not_started", "pending"],
  ["in_progress", "in_progress"],
  ["active", "in_progress"],
  ["running", "in_progress"],
  ["started", "in_progress"],
  ["completed", "completed"],
  ["complete", "completed"],
  ["done", "completed"],
  ["blocked", "blocked"],
  ["waiting", "blocked"],
  ["cancelled", "cancelled"],
  ["canceled", "cancelled"],
  ["dropped", "cancelled"],
  ["skipped", "cancelled"],
]);

/** The names of all statuses, with synonyms. */
export const PLAN_STATUS_NAMES: readonly string[] = [...STATUS_SYNONYMS.keys()];

function isJsonObject(value: unknown): value is JsonObject {
  return isObject(value);
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The first of the fields which is a string, a number or a boolean, trimmed. Undefined if there is none. */
function readText(source: JsonObject, names: readonly string[]): string | undefined {
  for (const name of names) {
    const text = toText(source[name]);
    if (text !== undefined) return text;
  }
  return undefined;
}

function toText(value: JsonValue | undefined): string | undefined {
  const isText = typeof value === "string" && value.trim() !== "";
  if (isText) return value.trim();
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

function readTexts(source: JsonObject, names: readonly string[]): readonly string[] {
  const value = names.map((name) => source[name]).find((found) => found !== undefined);
  const items = isList(value) ? value : [value ?? null];
  const texts = items.slice(0, MAX_ENTRIES).flatMap((item) => toText(item) ?? []);
  return texts.map((text) => cut(text, MAX_ENTRY_LENGTH));
}

function readSteps(source: JsonObject): readonly HarnPlanStep[] {
  const items = STEP_LISTS.map((name) => source[name]).find(isList) ?? [];
  const ids = new Set<string>();
  return items.slice(0, MAX_ENTRIES).flatMap((item, at): HarnPlanStep[] => {
    const fields: JsonObject = isJsonObject(item) ? item : {};
    const content = isJsonObject(item) ? readText(item, STEP_TEXTS) : toText(item);
    if (content === undefined) return [];
    return [
      {
        id: createUniqueId(cut(readText(fields, ["id"]) ?? `step-${at + 1}`, MAX_ID_LENGTH), ids),
        content: cut(content, MAX_ENTRY_LENGTH),
        status: readStatus(fields["status"]),
        priority: PLAN_PRIORITIES.find((known) => known === fields["priority"]) ?? null,
      },
    ];
  });
}

const MAX_ID_LENGTH = 100;

/** Clients find a step by its id. */
function createUniqueId(id: string, ids: Set<string>): string {
  let unique = id;
  for (let number = 2; ids.has(unique); number++) unique = `${id}-${number}`;
  ids.add(unique);
  return unique;
}

/** Models also write `In progress` and `in-progress`. */
function readStatus(value: JsonValue | undefined): PlanStatus {
  const name = typeof value === "string" ? value.slice(0, MAX_ID_LENGTH) : "";
  const key = name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_");
  return STATUS_SYNONYMS.get(key) ?? "pending";
}

/** Leaves no half of a surrogate pair, which has no UTF-8 form. */
function cut(text: string, length: number): string {
  return text.slice(0, length).toWellFormed();
}

function readApproval(value: JsonValue | undefined): HarnPlanApproval {
  if (!isJsonObject(value)) return { state: "unrequested" };
  const fields = APPROVAL_FIELDS.flatMap((name) => {
    const field = value[name];
    const isShort = field !== undefined && toJsonText(field).length <= MAX_APPROVAL_LENGTH;
    return isShort ? [[name, field] as const] : [];
  });
  return { state: readApprovalState(value), ...Object.fromEntries(fields) };
}

const APPROVAL_FIELDS = ["request_id", "reviewer", "reviewers", "approved_at", "reason"] as const;

function readApprovalState(value: JsonObject): HarnPlanApproval["state"] {
  const { state, status, approved } = value;
  switch (state ?? status) {
    case "approved":
      return "approved";
    case "rejected":
    case "denied":
      return "rejected";
    case "requested":
    case "pending":
      return "requested";
    case undefined:
      if (typeof approved === "boolean") return approved ? "approved" : "rejected";
      return "unrequested";
    default:
      return "unrequested";
  }
}

/** The steps as entries of a plan. A plan without steps is one entry with its summary, because a list needs an entry. */
export function toPlanEntries({ steps, summary }: HarnPlanContent): readonly PlanEntry[] {
  if (steps.length === 0) {
    const content = summary === "" ? "Plan emitted" : cut(summary, MAX_ENTRY_LENGTH);
    return [{ content, status: "pending", priority: "medium" }];
  }
  return steps.map(({ content, status, priority }) => ({
    content,
    status,
    priority: priority ?? "medium",
  }));
}
