import type { Passage } from "./entries.ts";
import { itemId } from "./item-id.ts";
import type {
  AssistantMessageItem,
  FunctionCallItem,
  FunctionCallOutputItem,
  ItemStatus,
  MessageItem,
  OutputText,
  ReasoningItem,
  UserMessageItem,
} from "./response-item.ts";
import { outputText, partText } from "./tool-output.ts";
import type { CallBlock, ReasoningBlock, ResultBlock } from "../../domain/turn-state.ts";

/** What every builder needs beside the entry itself. */
interface ItemFacts {
  readonly scope: string;
  readonly status: ItemStatus;
}

/** Arguments that cannot be read stay as they were streamed; none at all are an empty object, as models do it. */
export function functionCallItem(
  { key, call }: Pick<CallBlock, "key" | "call">,
  { scope, status }: ItemFacts,
): FunctionCallItem {
  const { id: call_id, name, inputText } = call;
  const isBare = status === "completed" && inputText.trim() === "";
  return {
    id: itemId("function_call", scope, key),
    type: "function_call",
    call_id,
    name,
    arguments: isBare ? "{}" : inputText,
    status,
  };
}

export function functionCallOutputItem(
  { key, result }: Pick<ResultBlock, "key" | "result">,
  { scope, status, output }: ItemFacts & { readonly output: "text" | "parts" },
): FunctionCallOutputItem {
  const text = outputText(result.parts);
  return {
    id: itemId("function_call_output", scope, key),
    type: "function_call_output",
    call_id: result.callId,
    output:
      output === "text"
        ? text
        : result.parts.map((part) => ({ type: "input_text", text: partText(part) })),
    status,
    ...(result.isError && { is_error: true, error: text }),
  };
}

export function messageItem(
  { role, blocks }: Passage,
  facts: ItemFacts & Pick<AssistantMessageItem, "phase">,
): MessageItem {
  const said = { key: blocks[0].key, texts: blocks.map(({ text }) => text) };
  return role === "user" ? userMessageItem(said, facts) : assistantMessageItem(said, facts);
}

/** What one message says, piece by piece. */
interface SaidTexts {
  readonly key: string;
  readonly texts: readonly string[];
}

export function assistantMessageItem(
  { key, texts }: SaidTexts,
  { scope, status, phase }: ItemFacts & Pick<AssistantMessageItem, "phase">,
): AssistantMessageItem {
  const id = itemId("message", scope, key);
  const content = texts.map(outputTextPart);
  return { id, type: "message", status, role: "assistant", content, phase };
}

export function userMessageItem(
  { key, texts }: SaidTexts,
  { scope, status }: ItemFacts,
): UserMessageItem {
  const content = texts.map((text) => ({ type: "input_text" as const, text }));
  return { id: itemId("message", scope, key), type: "message", status, role: "user", content };
}

export function outputTextPart(text: string): OutputText {
  return { type: "output_text", text, annotations: [] };
}

type ReasoningFacts = Pick<ReasoningBlock, "key" | "text" | "redacted" | "signature">;

/** The text rides as a summary, the one form that every client reads; its raw form is for those who ask. */
export function reasoningItem(
  { key, text, redacted, signature }: ReasoningFacts,
  { scope, status, raw }: ItemFacts & { readonly raw: boolean },
): ReasoningItem {
  return {
    id: itemId("reasoning", scope, key),
    type: "reasoning",
    status,
    summary: text === "" ? [] : [{ type: "summary_text", text }],
    ...(raw && text !== "" && { content: [{ type: "reasoning_text", text }] }),
    ...(redacted !== undefined && { encrypted_content: redacted }),
    ...(signature !== undefined && { signature }),
  };
}
