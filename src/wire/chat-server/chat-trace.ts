import type { ToolEnding, ToolFinished } from "../../domain/events/tool-events.ts";
import type { ToolCall } from "../../domain/tools/tool-call.ts";
import type { LogPosition } from "../responses/response-ids.ts";
import {
  encodeFunctionCall,
  encodeFunctionCallOutput,
  encodeReasoning,
} from "../responses/items/encode-items.ts";
import type {
  FunctionCallItem,
  FunctionCallOutputItem,
  ReasoningItem,
} from "../responses/items/response-item.ts";
import { isFailedOutcome } from "../responses/stream/executed-events.ts";

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
export function dropRedundantTexts(items: readonly ChatTraceItem[]): ChatTraceItem[] {
  const texts = items.filter(({ type }) => type === "text");
  const hasPlaces = texts.length > 1 && texts.length < items.length;
  return hasPlaces ? [...items] : items.filter(({ type }) => type !== "text");
}

/** `place` is of the event that opened the item, here and below. */
export function encodeTracedCall(
  call: ToolCall,
  wireCallId: string,
  position: LogPosition,
): FunctionCallItem {
  const status = call.input === null ? "incomplete" : "completed";
  const block = { key: String(position.seq), toolCall: { ...call, id: wireCallId } };
  return encodeFunctionCall(block, { scope: position.sessionId, status });
}

export function encodeTracedResult(
  event: ToolFinished,
  wireCallId: string,
  position: LogPosition,
): ChatTraceItem {
  const isError = isFailedOutcome(event);
  const facts = { scope: position.sessionId, status: "completed", output: "text" } as const;
  const block = {
    key: String(position.seq),
    result: { ...event.result, toolCallId: wireCallId, isError },
  };
  return { ...encodeFunctionCallOutput(block, facts), ...(isError && { ending: event.ending }) };
}

export function encodeTracedThought(text: string, position: LogPosition): ReasoningItem {
  const facts = { scope: position.sessionId, status: "completed", raw: false } as const;
  return encodeReasoning({ key: String(position.seq), text }, facts);
}

/** A call without arguments has those of an empty object. */
export function formatArguments({ inputText }: ToolCall): string {
  return inputText.trim() === "" ? "{}" : inputText;
}
