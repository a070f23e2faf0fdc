import type { ToolEnding, ToolFinished } from "../../domain/events/tool-events.ts";
import type { ToolCall } from "../../domain/tools/tool-call.ts";
import type { LogPosition } from "../../domain/events/log-position.ts";
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

/** One action of the agent, in the item format of Open Responses, or a piece of text between actions. */
export type ChatTraceItem =
  | FunctionCallItem
  | (FunctionCallOutputItem & {
      /** The ending of a tool call which did not succeed. Absent on success. */
      readonly ending?: ToolEnding;
    })
  | ReasoningItem
  /** A piece of the text, at its position among the actions. */
  | { readonly type: "text"; readonly text: string };

/** Removes the text entries if their position carries no information: a single text, or texts only. */
export function dropRedundantTexts(items: readonly ChatTraceItem[]): ChatTraceItem[] {
  const texts = items.filter(({ type }) => type === "text");
  const hasPlaces = texts.length > 1 && texts.length < items.length;
  return hasPlaces ? [...items] : items.filter(({ type }) => type !== "text");
}

/** Encodes a tool call for the trace. `position` is the position of the event which opened the item, here and below. */
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

/** A tool call without arguments has an empty object as arguments. */
export function formatArguments({ inputText }: ToolCall): string {
  return inputText.trim() === "" ? "{}" : inputText;
}
