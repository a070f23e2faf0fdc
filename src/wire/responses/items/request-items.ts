import type { Envelope } from "../../../domain/events/envelope.ts";
import type { InputMessage } from "../request/input-messages.ts";
import { encodeHistoryItems } from "./conversation-items.ts";
import { encodeSystemMessage } from "./encode-items.ts";
import { encodeInputItems } from "./input-items.ts";
import type { MessageItem, ResponseItem, SystemMessageItem } from "./response-item.ts";

export type RequestItem = ResponseItem | SystemMessageItem;

/** The log of one request. */
export interface LoggedRequest {
  /** The events, starting with the prompt of the request. */
  readonly envelopes: readonly Envelope[];
  /** The recorded messages of the request. Empty if the request had only new user messages. */
  readonly inputMessages: readonly InputMessage[];
  /** The event which imported the earlier messages of the request. Absent if none were imported. */
  readonly history?: Envelope;
}

/** Encodes all items of a request in order, one per message, for imported history and the prompt. */
export function encodeRequestItems(request: LoggedRequest): readonly RequestItem[] {
  const { envelopes, inputMessages } = request;
  const earlierItems = encodeEarlierItems(request);
  const logged: readonly ResponseItem[] = [...earlierItems, ...encodeInputItems(envelopes)];
  let earlierMessages = earlierItems.filter(isMessage).length;
  let next = 0;
  const items: RequestItem[] = [];
  const addToolItems = (): void => {
    for (let item = logged[next]; item !== undefined && !isMessage(item); item = logged[next]) {
      items.push(item);
      next += 1;
    }
  };
  const addMessage = (parts: number): void => {
    // Imported history has one item per part; the prompt has one item per message.
    const count = earlierMessages === 0 ? 1 : Math.min(parts, earlierMessages);
    items.push(...joinParts(logged.slice(next, next + count).filter(isMessage)));
    earlierMessages = Math.max(0, earlierMessages - count);
    next += count;
  };
  const scope = envelopes[0]?.sessionId ?? "";
  const seq = envelopes[0]?.seq ?? 0;
  for (const [index, message] of inputMessages.entries()) {
    if ("parts" in message || message.followsToolItem) addToolItems();
    if ("parts" in message) addMessage(message.parts);
    else items.push(encodeSystemMessage({ ...message, key: `${seq}-s${index}` }, scope));
  }
  return [...items, ...logged.slice(next)];
}

/** History starting with the assistant was imported after a generated user note, which is not part of the request. */
function encodeEarlierItems({ history, inputMessages }: LoggedRequest): readonly ResponseItem[] {
  if (history?.event.type !== "history.imported") return [];
  const [first, ...others] = encodeHistoryItems(history.event.messages, history);
  if (first === undefined) return [];
  const firstRole = inputMessages.find((message) => "parts" in message)?.role;
  const isNote = firstRole === "assistant" && isMessage(first) && first.role === "user";
  return isNote ? others : [first, ...others];
}

/** Joins the content of all parts into one item. */
function joinParts(parts: readonly MessageItem[]): MessageItem[] {
  const [first] = parts;
  if (first === undefined) return [];
  if (first.role === "user")
    return [
      { ...first, content: parts.flatMap((part) => (part.role === "user" ? part.content : [])) },
    ];
  return [
    { ...first, content: parts.flatMap((part) => (part.role === "assistant" ? part.content : [])) },
  ];
}

function isMessage(item: ResponseItem): item is MessageItem {
  return item.type === "message";
}
