import type { ResultsGiven } from "../../domain/agent-event.ts";
import type { Envelope } from "../../domain/envelope.ts";
import { imageNote } from "../../domain/image-block.ts";
import { callIdOf, type Place } from "./ids.ts";
import { functionCallOutputItem, userMessageItem } from "./items.ts";
import { choiceAt } from "./request/fields.ts";
import { missing, wrongField } from "./request/refusal.ts";
import type { FunctionCallOutputItem, UserMessageItem } from "./response-item.ts";

export type ListedItem = UserMessageItem | FunctionCallOutputItem;

/** What a response was asked with, from the events of the response: the results that it brought, then what was said. */
export function inputItemsOf(envelopes: Iterable<Envelope>): readonly ListedItem[] {
  let said: readonly UserMessageItem[] = [];
  let given: ReadonlySet<string> | null = null;
  const results: FunctionCallOutputItem[] = [];
  for (const { event, sessionId, seq } of envelopes) {
    if (given === null && (event.type === "prompt.accepted" || event.type === "results.given")) {
      given = new Set(event.type === "results.given" ? event.toolCallIds : []);
      said = saidItems(event, { sessionId, seq });
    }
    if (event.type === "tool.finished" && given?.has(event.toolCallId) === true) {
      const result = { ...event.result, callId: callIdOf(sessionId, event.toolCallId) };
      const facts = { scope: sessionId, status: "completed", output: "text" } as const;
      results.push(functionCallOutputItem({ key: String(seq), result }, facts));
    }
    if (given !== null && results.length === given.size) break;
  }
  return [...results, ...said];
}

/** One item for each message of the request. */
function saidItems(
  { content = [], messages = [content.length] }: Pick<ResultsGiven, "content" | "messages">,
  { sessionId, seq }: Place,
): UserMessageItem[] {
  const texts = content.map((part) => (part.type === "text" ? part.text : imageNote(part)));
  const facts = { scope: sessionId, status: "completed" } as const;
  const [isAlone, ends] = [messages.length === 1, endsOf(messages)];
  return ends.flatMap((end, at) => {
    const own = texts.slice(ends[at - 1] ?? 0, end);
    // No block has such a key: the blocks of a message are numbered from the event that began it.
    const key = isAlone ? String(seq) : `${seq}-${at + 1}`;
    return own.length === 0 ? [] : [userMessageItem({ key, texts: own }, facts)];
  });
}

function endsOf(lengths: readonly number[]): number[] {
  let end = 0;
  return lengths.map((length) => (end += length));
}

/** Which part of a list is asked for. */
export interface PageWish {
  readonly limit: number;
  readonly order: "asc" | "desc";
  readonly after: string | null;
}

/** From a query, where everything is text. */
export function readPageWish(query: ReadonlyMap<string, string>): PageWish {
  const limit = Number(query.get("limit") ?? 20);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw wrongField("limit", "has to be a whole number from 1 to 100");
  const order = choiceAt(query.get("order") ?? "desc", "order", ["asc", "desc"]);
  return { limit, order, after: query.get("after") ?? null };
}

interface Identified {
  readonly id: string;
}

/** One page of a list, as the API has lists. `items` are from the oldest. */
export function listPage<Item extends Identified>(
  items: readonly Item[],
  { limit, order, after }: PageWish,
) {
  const ordered = order === "asc" ? items : items.toReversed();
  const start = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== null && start === 0)
    throw missing("There is no such item in the list; begin without after", {
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
