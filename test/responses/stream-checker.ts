import { isObject } from "../../src/data/json.ts";
import { itemRules, type CheckedItem } from "./item-checker.ts";

/** A rule of the stream's state machine broken by an event. */
export interface Violation {
  readonly rule: Rule;
  /** Index of the event. Equals the number of events if the end of the stream breaks the rule. */
  readonly at: number;
}

/** The first ten names are from the reference state machine; the others are from this project's checklist. */
export type Rule =
  | "NON_MONOTONIC_SEQUENCE"
  | "INVALID_RESPONSE_TRANSITION"
  | "UNKNOWN_ITEM"
  | "DUPLICATE_ITEM"
  | "UNKNOWN_CONTENT_PART"
  | "DUPLICATE_CONTENT_PART"
  | "INVALID_CONTENT_PART_TRANSITION"
  | "RESPONSE_NOT_TERMINATED"
  | "ITEM_NOT_TERMINATED"
  | "CONTENT_PART_NOT_TERMINATED"
  | "SEQUENCE_GAP"
  | "CREATED_NOT_FIRST"
  | "IN_PROGRESS_NOT_SECOND"
  | "OUTPUT_INDEX_GAP"
  | "PART_INDEX_GAP"
  | "ITEM_ID_CHANGED"
  | "ITEM_ALREADY_DONE"
  | "NO_DELTA"
  | "TEXT_DIFFERS"
  | "ARGUMENTS_DIFFER"
  | "OUTPUT_DIFFERS"
  | "RESPONSE_ID_CHANGED"
  | "ERROR_WITHOUT_FAILED"
  | "UNMATCHED_OUTPUT"
  | "UNKNOWN_EVENT";

/** A decoded event, received from a stream or about to be written to a stream. */
export type StreamEventLike = { readonly type: string } & Fields;

type Fields = { readonly [field: string]: unknown };

export interface Checked {
  readonly items: CheckedItem[];
  readonly report: (rule: Rule) => void;
}

/** Returns every rule which a stream breaks, in event order. An empty list means the stream is valid. */
export function violationsIn(sent: readonly { readonly type: string }[]): readonly Violation[] {
  const events: readonly StreamEventLike[] = sent.map((event) => ({ ...event }));
  const violations: Violation[] = [];
  const items: CheckedItem[] = [];
  let at = 0;
  const report = (rule: Rule): void => void violations.push({ rule, at });
  const life: Life = { state: "idle", responseId: null, sequence: null, isError: false };
  for (const event of events) {
    checkSequence(life, event, report);
    if (at === 0 && event.type !== "response.created") report("CREATED_NOT_FIRST");
    if (at === 1 && !SECOND.has(event.type)) report("IN_PROGRESS_NOT_SECOND");
    if (isTerminal(life.state)) report("INVALID_RESPONSE_TRANSITION");
    else if (LIFE.has(event.type)) checkLife(life, event, { items, report });
    else if (event.type === "error") life.isError = true;
    else if (!isExtension(event) && !itemRules(event, { items, report })) report("UNKNOWN_EVENT");
    at += 1;
  }
  if (!isTerminal(life.state)) report("RESPONSE_NOT_TERMINATED");
  if (life.isError && life.state !== "failed") report("ERROR_WITHOUT_FAILED");
  for (const { isDone, parts } of items) {
    if (!isDone) report("ITEM_NOT_TERMINATED");
    if (parts.some((part) => !part.isDone)) report("CONTENT_PART_NOT_TERMINATED");
  }
  return violations;
}

/** Extension events (`vendor:name`) are sent only to clients which requested them. */
function isExtension({ type }: StreamEventLike): boolean {
  return /^[a-z]+:/.test(type);
}

interface Life {
  state: string;
  responseId: unknown;
  sequence: number | null;
  isError: boolean;
}

const SECOND: ReadonlySet<string> = new Set(["response.in_progress", "response.queued"]);

/** Allowed predecessor states of each lifecycle event. */
const LIFE: ReadonlyMap<string, readonly string[]> = new Map([
  ["response.created", ["idle"]],
  ["response.queued", ["created"]],
  ["response.in_progress", ["created", "queued"]],
  ["response.completed", ["in_progress"]],
  ["response.incomplete", ["in_progress"]],
  ["response.failed", ["idle", "created", "queued", "in_progress"]],
]);

function isTerminal(state: string): boolean {
  return state === "completed" || state === "incomplete" || state === "failed";
}

function checkSequence(life: Life, event: StreamEventLike, report: Checked["report"]): void {
  const { sequence_number: sequence } = event;
  if (typeof sequence !== "number") return report("NON_MONOTONIC_SEQUENCE");
  if (life.sequence !== null && sequence <= life.sequence) report("NON_MONOTONIC_SEQUENCE");
  else if (life.sequence !== null && sequence !== life.sequence + 1) report("SEQUENCE_GAP");
  life.sequence = sequence;
}

function checkLife(life: Life, event: StreamEventLike, { items, report }: Checked): void {
  if (!(LIFE.get(event.type) ?? []).includes(life.state)) report("INVALID_RESPONSE_TRANSITION");
  life.state = event.type.slice("response.".length);
  const response = isObject(event["response"]) ? event["response"] : {};
  life.responseId ??= response["id"];
  if (response["id"] !== life.responseId) report("RESPONSE_ID_CHANGED");
  if (!isTerminal(life.state)) return;
  const output = JSON.stringify(response["output"]);
  if (output !== JSON.stringify(items.map(({ done }) => done))) report("OUTPUT_DIFFERS");
  checkPairs(items, report);
}

function checkPairs(items: readonly CheckedItem[], report: Checked["report"]): void {
  const calls = new Set<unknown>();
  for (const { done } of items) {
    if (done?.["type"] === "function_call") calls.add(done["call_id"]);
    const isOutput = done?.["type"] === "function_call_output";
    if (isOutput && !calls.has(done["call_id"])) report("UNMATCHED_OUTPUT");
  }
}
