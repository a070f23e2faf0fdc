import type { ToolFinished } from "../../domain/agent-event.ts";
import type { ToolCall } from "../../domain/tool.ts";
import type { Place } from "../responses/ids.ts";
import { functionCallItem, functionCallOutputItem, reasoningItem } from "../responses/items.ts";
import type {
  FunctionCallItem,
  FunctionCallOutputItem,
  ReasoningItem,
} from "../responses/response-item.ts";

/** What the agent did, beside what it said: the items that an Open Responses output has for it. */
export type ChatTraceItem = FunctionCallItem | FunctionCallOutputItem | ReasoningItem;

/** `place` is of the event that opened the item, here and below. */
export function tracedCall(call: ToolCall, outer: string, place: Place): FunctionCallItem {
  const status = call.input === null ? "incomplete" : "completed";
  const said = { key: String(place.seq), call: { ...call, id: outer } };
  return functionCallItem(said, { scope: place.sessionId, status });
}

export function tracedResult(
  { result }: ToolFinished,
  outer: string,
  place: Place,
): FunctionCallOutputItem {
  const facts = { scope: place.sessionId, status: "completed", output: "text" } as const;
  const said = { key: String(place.seq), result: { ...result, callId: outer } };
  return functionCallOutputItem(said, facts);
}

export function tracedThought(text: string, place: Place): ReasoningItem {
  const facts = { scope: place.sessionId, status: "completed", raw: false } as const;
  return reasoningItem({ key: String(place.seq), text }, facts);
}

/** A call without arguments has those of an empty object. */
export function argumentsOf({ inputText }: ToolCall): string {
  return inputText.trim() === "" ? "{}" : inputText;
}
