import type { ModelMessage } from "../../../domain/model-request.ts";
import { isAbsent, objectAt, optionalText, textAt } from "./fields.ts";
import { historyOf } from "./history.ts";
import type { InputItem } from "./input-item.ts";
import { readItems } from "./read-input.ts";
import { wrongField } from "./refusal.ts";

/** A conversation that somebody wants to begin. */
export interface ConversationWish {
  /** The agent; ours, since a session belongs to one. */
  readonly model: string | null;
  readonly title: string | null;
  /** What was said before it. */
  readonly history: readonly ModelMessage[];
}

export function readConversation(body: unknown): ConversationWish {
  const fields = objectAt(body, "body");
  const items = isAbsent(fields["items"]) ? [] : readItems(fields["items"], "items");
  for (const item of items) checkTold(item);
  return {
    model: optionalText(fields, "model", "", LONGEST_NAME),
    title: readTitle(fields["metadata"]),
    history: historyOf(items),
  };
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

/** A session has a title, and no other place for what is the caller's. */
function readTitle(metadata: unknown): string | null {
  if (isAbsent(metadata)) return null;
  const { title, ...others } = objectAt(metadata, "metadata");
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw wrongField(
      `metadata.${other}`,
      'is not kept; a conversation keeps "title" alone',
      "unsupported_metadata",
    );
  return title === undefined ? null : textAt(title, "metadata.title", 512);
}

const LONGEST_NAME = 256;
