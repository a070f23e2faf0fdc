import type { ToolEnding, ToolFinished } from "../../domain/agent-event.ts";
import type { ToolCall } from "../../domain/tool.ts";
import type { Place } from "../responses/ids.ts";
import { functionCallItem, functionCallOutputItem, reasoningItem } from "../responses/items.ts";
import type {
  FunctionCallItem,
  FunctionCallOutputItem,
  ReasoningItem,
} from "../responses/response-item.ts";
import { isFailure } from "../responses/stream/executed-events.ts";

/** What the agent did: the items that an Open Responses output has for it, and what it said between them. */
export type ChatTraceItem =
  | FunctionCallItem
  | (FunctionCallOutputItem & {
      /** How a call ended that did not succeed. */
      readonly ending?: ToolEnding;
    })
  | ReasoningItem
  /** A piece of the answer, at its place. */
  | { readonly type: "text"; readonly text: string };

/** Where a text is one piece, its place says nothing that the message does not. */
export function withTexts(items: readonly ChatTraceItem[]): ChatTraceItem[] {
  const texts = items.filter(({ type }) => type === "text");
  const hasPlaces = texts.length > 1 && texts.length < items.length;
  return hasPlaces ? [...items] : items.filter(({ type }) => type !== "text");
}

/** `place` is of the event that opened the item, here and below. */
export function tracedCall(call: ToolCall, outer: string, place: Place): FunctionCallItem {
  const status = call.input === null ? "incomplete" : "completed";
  const said = { key: String(place.seq), call: { ...call, id: outer } };
  return functionCallItem(said, { scope: place.sessionId, status });
}

export function tracedResult(event: ToolFinished, outer: string, place: Place): ChatTraceItem {
  const isError = isFailure(event);
  const facts = { scope: place.sessionId, status: "completed", output: "text" } as const;
  const said = { key: String(place.seq), result: { ...event.result, callId: outer, isError } };
  return { ...functionCallOutputItem(said, facts), ...(isError && { ending: event.ending }) };
}

export function tracedThought(text: string, place: Place): ReasoningItem {
  const facts = { scope: place.sessionId, status: "completed", raw: false } as const;
  return reasoningItem({ key: String(place.seq), text }, facts);
}

/** A call without arguments has those of an empty object. */
export function argumentsOf({ inputText }: ToolCall): string {
  return inputText.trim() === "" ? "{}" : inputText;
}
