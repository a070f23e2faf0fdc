import type { ModelMessage } from "../../../domain/model-request.ts";
import { isAbsent, objectAt, optionalText } from "./fields.ts";
import { historyOf, messagesOfItems } from "./history.ts";
import type { InputItem } from "./input-item.ts";
import { checkAnswered } from "./new-input.ts";
import { readItems } from "./read-input.ts";
import { readMetadata } from "./read-metadata.ts";
import { wrongField } from "./refusal.ts";

/** A conversation that somebody wants to begin. */
export interface ConversationWish {
  /** The agent; ours, since a session belongs to one. */
  readonly model: string | null;
  readonly metadata: { readonly [name: string]: string };
  /** What was said before it. */
  readonly history: readonly ModelMessage[];
}

export function readConversation(body: unknown): ConversationWish {
  const fields = objectAt(body, "body");
  const items = isAbsent(fields["items"]) ? [] : readHistoryItems(fields["items"]);
  return {
    model: optionalText(fields, "model", "", LONGEST_NAME),
    metadata: readMetadata(fields["metadata"]),
    history: historyOf(items),
  };
}

/** The body of an update: the metadata that replaces the conversation's. */
export function readConversationUpdate(body: unknown): ConversationWish["metadata"] {
  const { metadata } = objectAt(body, "body");
  if (isAbsent(metadata))
    throw wrongField("metadata", "is missing; send the new metadata", "missing_field");
  return readMetadata(metadata);
}

/** The body of a request that adds items: the messages that they come to. */
export function readAddedItems(body: unknown): readonly ModelMessage[] {
  const { items } = objectAt(body, "body");
  const read = readHistoryItems(items);
  if (read.length === 0)
    throw wrongField("items", "has none; send at least one item", "missing_field");
  checkAnswered(read);
  return messagesOfItems(read);
}

function readHistoryItems(value: unknown): readonly InputItem[] {
  const items = readItems(value, "items");
  for (const item of items) checkTold(item);
  return items;
}

/** What cannot be a part of what was said would be lost without a word. */
function checkTold(item: InputItem): void {
  const { path } = item;
  if (item.kind === "reference")
    throw wrongField(path, "refers to an item; send the item itself", "item_not_found");
  const isInstruction =
    item.kind === "message" && (item.role === "system" || item.role === "developer");
  if (isInstruction || (item.kind === "compaction" && item.instructions !== null))
    throw wrongField(
      path,
      "has instructions, which a conversation does not keep; send them with each request",
      "unsupported_item",
    );
}

const LONGEST_NAME = 256;
