import type { ToolResultsSubmitted } from "../../../domain/events/turn-events.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import { formatImageNote } from "../../../domain/model/image-block.ts";
import { formatCallId, type LogPosition } from "../response-ids.ts";
import { encodeFunctionCallOutput, encodeUserMessage } from "./encode-items.ts";
import { readChoice } from "../request/body-fields.ts";
import { createNotFoundError, createFieldError } from "../request/request-error.ts";
import type { FunctionCallOutputItem, UserMessageItem } from "./response-item.ts";

export type InputListItem = UserMessageItem | FunctionCallOutputItem;

/** What a response was asked with, from the events of the response: the results that it brought, then what was said. */
export function encodeInputItems(envelopes: Iterable<Envelope>): readonly InputListItem[] {
  let userItems: readonly UserMessageItem[] = [];
  let resultIds: ReadonlySet<string> | null = null;
  const results: FunctionCallOutputItem[] = [];
  for (const { event, sessionId, seq } of envelopes) {
    if (
      resultIds === null &&
      (event.type === "prompt.accepted" || event.type === "tool_results.submitted")
    ) {
      resultIds = new Set(event.type === "tool_results.submitted" ? event.toolCallIds : []);
      userItems = encodeUserItems(event, { sessionId, seq });
    }
    if (event.type === "tool.finished" && resultIds?.has(event.toolCallId) === true) {
      const result = { ...event.result, toolCallId: formatCallId(sessionId, event.toolCallId) };
      const facts = { scope: sessionId, status: "completed", output: "text" } as const;
      results.push(encodeFunctionCallOutput({ key: String(seq), result }, facts));
    }
    if (resultIds !== null && results.length === resultIds.size) break;
  }
  return [...results, ...userItems];
}

/** One item for each message of the request. */
function encodeUserItems(
  { content = [], messages = [content.length] }: Pick<ToolResultsSubmitted, "content" | "messages">,
  { sessionId, seq }: LogPosition,
): UserMessageItem[] {
  const texts = content.map((part) => (part.type === "text" ? part.text : formatImageNote(part)));
  const facts = { scope: sessionId, status: "completed" } as const;
  const [isAlone, ends] = [messages.length === 1, toEndIndexes(messages)];
  return ends.flatMap((end, at) => {
    const messageTexts = texts.slice(ends[at - 1] ?? 0, end);
    // No block has such a key: the blocks of a message are numbered from the event that began it.
    const key = isAlone ? String(seq) : `${seq}-${at + 1}`;
    return messageTexts.length === 0
      ? []
      : [encodeUserMessage({ key, texts: messageTexts }, facts)];
  });
}

function toEndIndexes(lengths: readonly number[]): number[] {
  let end = 0;
  return lengths.map((length) => (end += length));
}

/** Which part of a list is asked for. */
export interface PageQuery {
  readonly limit: number;
  readonly order: "asc" | "desc";
  readonly after: string | null;
}

/** From a query, where everything is text. */
export function readPageQuery(query: ReadonlyMap<string, string>): PageQuery {
  const limit = Number(query.get("limit") ?? 20);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw createFieldError("limit", "has to be a whole number from 1 to 100");
  const order = readChoice(query.get("order") ?? "desc", "order", ["asc", "desc"]);
  return { limit, order, after: query.get("after") ?? null };
}

interface ItemWithId {
  readonly id: string;
}

/** One page of a list, as the API has lists. `items` are from the oldest. */
export function createListPage<Item extends ItemWithId>(
  items: readonly Item[],
  { limit, order, after }: PageQuery,
) {
  const ordered = order === "asc" ? items : items.toReversed();
  const start = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== null && start === 0)
    throw createNotFoundError("There is no such item in the list; begin without after", {
      param: "after",
      code: "item_not_found",
    });
  const data = ordered.slice(start, start + limit);
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < ordered.length,
  } as const;
}
