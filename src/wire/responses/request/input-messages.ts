import { isObject, type JsonValue } from "../../../data/json.ts";
import { isBlank } from "../../../domain/model/model-request.ts";
import type { InputItem } from "./input-item.ts";
import { findLastAgentItem } from "./new-input.ts";
import { joinText } from "./read-input.ts";
import { toMessages } from "./to-history.ts";

/**
 * One message of a request, as stored in the log with the prompt. The text of user and assistant messages is in the
 * events, where adjacent messages of one role are joined; `parts` marks the end of the message. Instructions have no
 * events of their own.
 */
export type InputMessage =
  | { readonly role: "user" | "assistant"; readonly parts: number }
  | {
      readonly role: "system" | "developer";
      readonly text: string;
      /** True if the item before the message is not a message. */
      readonly followsToolItem: boolean;
    };

/**
 * Lists the messages of a request. Empty if the prompt alone determines them. For a request which continues a session,
 * earlier user and assistant messages are omitted: they are the input and output of earlier responses.
 */
export function listInputMessages(
  input: readonly InputItem[],
  hasHistory: boolean,
): readonly InputMessage[] {
  const firstNew = hasHistory ? 0 : findLastAgentItem(input) + 1;
  const messages = input.flatMap((item, index): readonly InputMessage[] => {
    if (item.kind === "message" && (item.role === "system" || item.role === "developer")) {
      const previous = input[index - 1];
      const followsToolItem = previous !== undefined && previous.kind !== "message";
      return [{ role: item.role, text: joinText(item.parts), followsToolItem }];
    }
    if (index < firstNew) return [];
    return toMessages([item])
      .map(({ role, blocks }) => ({ role, parts: blocks.filter(isContent).length }))
      .filter(({ parts }) => parts > 0);
  });
  const isPlain = !hasHistory && messages.every(({ role }) => role === "user");
  return isPlain ? [] : messages;
}

function isContent(block: Parameters<typeof isBlank>[0]): boolean {
  return (block.type === "text" || block.type === "image") && !isBlank(block);
}

/** Decodes stored messages. Unreadable entries are omitted. */
export function decodeInputMessages(value: JsonValue | undefined): readonly InputMessage[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown): readonly InputMessage[] => {
    if (!isObject(entry)) return [];
    const { role, parts, text, followsToolItem } = entry;
    if ((role === "user" || role === "assistant") && typeof parts === "number")
      return [{ role, parts }];
    if ((role === "system" || role === "developer") && typeof text === "string")
      return [{ role, text, followsToolItem: followsToolItem === true }];
    return [];
  });
}
