import type { ModelMessage } from "../../../domain/model/model-request.ts";
import { isAbsent, readObject, readOptionalString, readMetadata } from "./body-fields.ts";
import { toHistory, toMessages } from "./to-history.ts";
import type { InputItem } from "./input-item.ts";
import { checkResultsHaveCalls } from "./new-input.ts";
import { readItems } from "./read-input.ts";
import { createFieldError } from "./request-error.ts";

/** A validated request to create a conversation. */
export interface CreateConversationRequest {
  /** The name of the agent. A Spanline extension, because a session belongs to one agent. */
  readonly model: string | null;
  readonly metadata: { readonly [name: string]: string };
  /** Earlier messages of the conversation. */
  readonly history: readonly ModelMessage[];
}

export function readCreateConversation(body: unknown): CreateConversationRequest {
  const fields = readObject(body, "body");
  const items = isAbsent(fields["items"]) ? [] : readHistoryItems(fields["items"]);
  return {
    model: readOptionalString(fields, "model", "", MAX_NAME_LENGTH),
    metadata: readMetadata(fields["metadata"]),
    history: toHistory(items),
  };
}

/** Reads an update: the metadata which replaces the metadata of the conversation. */
export function readConversationUpdate(body: unknown): CreateConversationRequest["metadata"] {
  const { metadata } = readObject(body, "body");
  if (isAbsent(metadata))
    throw createFieldError("metadata", "is missing; send the new metadata", "missing_field");
  return readMetadata(metadata);
}

/** Reads a request which adds items. Returns the messages of the items. */
export function readAddedItems(body: unknown): readonly ModelMessage[] {
  const { items } = readObject(body, "body");
  const read = readHistoryItems(items);
  if (read.length === 0)
    throw createFieldError("items", "is empty; send at least one item", "missing_field");
  checkResultsHaveCalls(read);
  return toMessages(read);
}

function readHistoryItems(value: unknown): readonly InputItem[] {
  const items = readItems(value, "items");
  for (const item of items) checkHistoryItem(item);
  return items;
}

/** Refuses items which cannot be part of a history, because they would be lost silently. */
function checkHistoryItem(item: InputItem): void {
  const { path } = item;
  if (item.kind === "reference")
    throw createFieldError(path, "refers to an item; send the item itself", "item_not_found");
  const isInstruction =
    item.kind === "message" && (item.role === "system" || item.role === "developer");
  if (isInstruction || (item.kind === "compaction" && item.instructions !== null))
    throw createFieldError(
      path,
      "has instructions, which a conversation does not keep; send them with each request",
      "unsupported_item",
    );
}

const MAX_NAME_LENGTH = 256;
