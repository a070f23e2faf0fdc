import type { ToolFinished } from "../../domain/agent-event.ts";
import type { Envelope } from "../../domain/envelope.ts";
import type { ToolCall } from "../../domain/tool.ts";
import { itemId } from "../responses/item-id.ts";
import type {
  FunctionCallItem,
  FunctionCallOutputItem,
  ReasoningItem,
} from "../responses/response-item.ts";
import { outputText } from "../responses/tool-output.ts";

/** What the agent did, beside what it said: the items that an Open Responses output has for it. */
export type ChatTraceItem = FunctionCallItem | FunctionCallOutputItem | ReasoningItem;

interface Place {
  readonly sessionId: string;
  /** Of the event that opened the item. */
  readonly seq: number;
}

export function callItem(
  call: ToolCall,
  outer: string,
  { sessionId, seq }: Place,
): FunctionCallItem {
  return {
    id: itemId("function_call", sessionId, String(seq)),
    type: "function_call",
    call_id: outer,
    name: call.name,
    arguments: argumentsOf(call),
    status: call.inputError === undefined ? "completed" : "incomplete",
  };
}

export function resultItem(
  { result }: ToolFinished,
  outer: string,
  { sessionId, seq }: Envelope,
): FunctionCallOutputItem {
  const output = outputText(result.parts);
  return {
    id: itemId("function_call_output", sessionId, String(seq)),
    type: "function_call_output",
    call_id: outer,
    output,
    status: "completed",
    ...(result.isError && { is_error: true, error: output }),
  };
}

export function reasoningItem(text: string, { sessionId, seq }: Place): ReasoningItem {
  return {
    id: itemId("reasoning", sessionId, String(seq)),
    type: "reasoning",
    status: "completed",
    summary: [{ type: "summary_text", text }],
  };
}

/** A call without arguments has those of an empty object. */
export function argumentsOf({ inputText }: ToolCall): string {
  return inputText.trim() === "" ? "{}" : inputText;
}
