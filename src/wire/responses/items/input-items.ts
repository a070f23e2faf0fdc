import type { ToolResultsSubmitted } from "../../../domain/events/turn-events.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import { formatImageNote } from "../../../domain/model/image-block.ts";
import { type LogPosition } from "../../../domain/events/log-position.ts";
import { formatCallId } from "../response-ids.ts";
import { encodeFunctionCallOutput, encodeUserMessage } from "./encode-items.ts";
import { readChoice } from "../request/body-fields.ts";
import { createNotFoundError, createFieldError } from "../request/request-error.ts";
import type { FunctionCallOutputItem, UserMessageItem } from "./response-item.ts";
import { formatUnknownName } from "../../../text/unknown-name.ts";

export type InputListItem = UserMessageItem | FunctionCallOutputItem;

/** Encodes the input of a response from its events: the submitted tool results, then the user messages. */
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

/** Encodes one item per message of the request. */
function encodeUserItems(
  { content = [], messages = [content.length] }: Pick<ToolResultsSubmitted, "content" | "messages">,
  { sessionId, seq }: LogPosition,
): UserMessageItem[] {
  const texts = content.map((part) => (part.type === "text" ? part.text : formatImageNote(part)));
  const facts = { scope: sessionId, status: "completed" } as const;
  const [isAlone, ends] = [messages.length === 1, toEndIndexes(messages)];
  return ends.flatMap((end, at) => {
    const messageTexts = texts.slice(ends[at - 1] ?? 0, end);
    // Distinct from block keys: the blocks of a message are numbered from the event which started the message.
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

/** The requested page of a list. */
export interface PageQuery {
  readonly limit: number;
  readonly order: "asc" | "desc";
  readonly after: string | null;
}

/** Reads the page from query parameters, which are strings. Default limit: 20, at most 100. */
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

/** Creates one page in the list format of the API. `items` are oldest first. */
export function createListPage<Item extends ItemWithId>(
  items: readonly Item[],
  { limit, order, after }: PageQuery,
) {
  const ordered = order === "asc" ? items : items.toReversed();
  const start = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== null && start === 0) {
    const message = formatUnknownName("Item", after, { where: "in this list", fix: "omit after" });
    throw createNotFoundError(message, { param: "after", code: "item_not_found" });
  }
  const data = ordered.slice(start, start + limit);
  return {
    object: "list",
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < ordered.length,
  } as const;
}
