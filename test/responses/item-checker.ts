import { isObject } from "../../src/data/json.ts";
import type { Checked, StreamEventLike } from "./stream-checker.ts";

export interface CheckedItem {
  readonly id: unknown;
  readonly type: unknown;
  readonly parts: CheckedPart[];
  arguments: string | null;
  isDone: boolean;
  done: Fields | null;
}

interface CheckedPart {
  text: string;
  deltas: number;
  /** The stream has marked the text as complete. */
  isTextDone: boolean;
  isDone: boolean;
}

type Fields = { readonly [field: string]: unknown };

/** Checks the rules for items and their parts. Returns false if the event does not belong to an item. */
export function itemRules(event: StreamEventLike, checked: Checked): boolean {
  if (event.type === "response.output_item.added") return added(event, checked);
  const rule = RULES.get(event.type);
  if (rule === undefined) return false;
  const { items, report } = checked;
  const item = items[Number(event["output_index"])];
  if (item === undefined) report("UNKNOWN_ITEM");
  else if (item.isDone) report("ITEM_ALREADY_DONE");
  else {
    const id = isObject(event["item"]) ? event["item"]["id"] : event["item_id"];
    if (id !== item.id) report("ITEM_ID_CHANGED");
    rule(event, item, checked);
  }
  return true;
}

function added(event: StreamEventLike, { items, report }: Checked): boolean {
  const item = isObject(event["item"]) ? event["item"] : {};
  if (event["output_index"] !== items.length) report("OUTPUT_INDEX_GAP");
  if (items.some(({ id }) => id === item["id"])) report("DUPLICATE_ITEM");
  items.push({
    id: item["id"],
    type: item["type"],
    parts: [],
    arguments: null,
    isDone: false,
    done: null,
  });
  return true;
}

type ItemRule = (event: StreamEventLike, item: CheckedItem, checked: Checked) => void;

const RULES: ReadonlyMap<string, ItemRule> = new Map<string, ItemRule>([
  ["response.output_item.done", itemDone],
  ["response.content_part.added", partAdded],
  ["response.content_part.done", partDone],
  ["response.output_text.delta", partDelta],
  ["response.output_text.done", textDone],
  ["response.reasoning_summary_part.added", partAdded],
  ["response.reasoning_summary_part.done", partDone],
  ["response.reasoning_summary_text.delta", partDelta],
  ["response.reasoning_summary_text.done", textDone],
  ["response.function_call_arguments.delta", argumentsDelta],
  ["response.function_call_arguments.done", argumentsDone],
  ["response.mcp_call_arguments.delta", argumentsDelta],
  ["response.mcp_call_arguments.done", argumentsDone],
  ["response.mcp_call.in_progress", () => {}],
  ["response.mcp_call.completed", () => {}],
  ["response.mcp_call.failed", () => {}],
]);

function itemDone(event: StreamEventLike, item: CheckedItem, { report }: Checked): void {
  item.isDone = true;
  item.done = isObject(event["item"]) ? event["item"] : {};
  if (item.parts.some((part) => !part.isDone)) report("CONTENT_PART_NOT_TERMINATED");
  if (item.type === "function_call" && item.arguments === null) report("NO_DELTA");
  const { arguments: finalArguments } = item.done;
  if (item.arguments !== null && finalArguments !== item.arguments) report("ARGUMENTS_DIFFER");
  const itemParts = item.type === "reasoning" ? item.done["summary"] : item.done["content"];
  const isStreamed = item.type === "reasoning" || item.done["role"] === "assistant";
  if (isStreamed && JSON.stringify(textsOf(itemParts)) !== JSON.stringify(item.parts.map(textOf)))
    report("TEXT_DIFFERS");
}

function textsOf(parts: unknown): readonly unknown[] {
  if (!Array.isArray(parts)) return [];
  return parts.map((part: unknown) => (isObject(part) ? part["text"] : undefined));
}

function textOf({ text }: CheckedPart): string {
  return text;
}

function indexOf(event: StreamEventLike): unknown {
  return event["content_index"] ?? event["summary_index"];
}

function partAdded(event: StreamEventLike, { parts }: CheckedItem, { report }: Checked): void {
  const index = indexOf(event);
  if (parts[Number(index)] !== undefined) return report("DUPLICATE_CONTENT_PART");
  if (index !== parts.length) report("PART_INDEX_GAP");
  parts.push({ text: "", deltas: 0, isTextDone: false, isDone: false });
}

function openPart(event: StreamEventLike, item: CheckedItem, { report }: Checked) {
  const part = item.parts[Number(indexOf(event))];
  if (part === undefined) report("UNKNOWN_CONTENT_PART");
  else if (part.isDone) report("INVALID_CONTENT_PART_TRANSITION");
  return part?.isDone === false ? part : undefined;
}

function partDelta(event: StreamEventLike, item: CheckedItem, checked: Checked): void {
  const part = openPart(event, item, checked);
  if (part === undefined) return;
  if (part.isTextDone) checked.report("INVALID_CONTENT_PART_TRANSITION");
  part.text += String(event["delta"]);
  part.deltas += 1;
}

function textDone(event: StreamEventLike, item: CheckedItem, checked: Checked): void {
  const part = openPart(event, item, checked);
  if (part === undefined) return;
  if (part.isTextDone) checked.report("INVALID_CONTENT_PART_TRANSITION");
  if (part.deltas === 0) checked.report("NO_DELTA");
  if (part.text !== event["text"]) checked.report("TEXT_DIFFERS");
  part.isTextDone = true;
}

function partDone(event: StreamEventLike, item: CheckedItem, checked: Checked): void {
  const part = openPart(event, item, checked);
  if (part === undefined) return;
  const partText = isObject(event["part"]) ? event["part"]["text"] : undefined;
  if (!part.isTextDone) checked.report("INVALID_CONTENT_PART_TRANSITION");
  if (part.text !== partText) checked.report("TEXT_DIFFERS");
  part.isDone = true;
}

function argumentsDelta(event: StreamEventLike, item: CheckedItem): void {
  item.arguments = (item.arguments ?? "") + String(event["delta"]);
}

function argumentsDone(event: StreamEventLike, item: CheckedItem, { report }: Checked): void {
  if (item.arguments === null) report("NO_DELTA");
  else if (event["arguments"] !== item.arguments) report("ARGUMENTS_DIFFER");
}
