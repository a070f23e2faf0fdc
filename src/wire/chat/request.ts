import { plainName } from "../../domain/call-names.ts";
import { jsonText, type JsonObject } from "../../domain/json.ts";
import { requestBody, type ModelDialect } from "../../domain/model-dialect.ts";
import type {
  ModelBlock,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ToolChoice,
} from "../../domain/model-request.ts";
import type { ToolCall } from "../../domain/tool.ts";
import { resultText } from "./result-text.ts";

export interface ChatRequestOptions {
  /** OpenAI's newer models refuse `max_tokens`, and most other servers know nothing else. */
  readonly limitName?: "max_tokens" | "max_completion_tokens";
  /** For servers that want a model's own reasoning back, the name that they know it by. Others never see it. */
  readonly reasoningName?: "reasoning" | "reasoning_content";
}

/** What the server at an address calls the limit. */
export function limitNameAt({ hostname }: URL): NonNullable<ChatRequestOptions["limitName"]> {
  return hostname === "api.openai.com" ? "max_completion_tokens" : "max_tokens";
}

/** The body of a chat completion that is streamed. */
export function chatRequest(
  model: string,
  request: ModelRequest,
  options: ChatRequestOptions = {},
): JsonObject {
  return requestBody(chatDialect(model, options), request);
}

export function chatDialect(
  model: string,
  options: ChatRequestOptions = {},
): ModelDialect<JsonObject, JsonObject> {
  const { limitName = "max_tokens", reasoningName } = options;
  return {
    fields: ({ tools = [], toolChoice, maxTokens, temperature, stopSequences = [] }) => ({
      model,
      ...(tools.length > 0 && { tools: tools.map(tool) }),
      ...(toolChoice !== undefined && { tool_choice: choice(toolChoice) }),
      ...(maxTokens !== undefined && { [limitName]: maxTokens }),
      ...(temperature !== undefined && { temperature }),
      ...(stopSequences.length > 0 && { stop: stopSequences }),
      stream: true,
      stream_options: { include_usage: true },
    }),
    opening: ({ system }) => (system === undefined ? [] : [{ role: "system", content: system }]),
    encode: (message) =>
      message.role === "user" ? userMessages(message) : [assistantMessage(message, options)],
    isTaken: ({ type }) => type !== "reasoning" || reasoningName !== undefined,
  };
}

/** Each result is a message of its own, directly behind the calls. */
function userMessages({ blocks }: ModelMessage): JsonObject[] {
  const results = blocks.flatMap((block) => (block.type === "result" ? [block.result] : []));
  const content = userContent(blocks);
  return [
    ...results.map((result) => ({
      role: "tool",
      tool_call_id: result.callId,
      content: resultText(result),
    })),
    ...(content === "" ? [] : [{ role: "user", content }]),
  ];
}

/** Text alone goes as text, which every server takes; with pictures it goes in parts. */
function userContent(blocks: readonly ModelBlock[]): JsonObject[] | string {
  if (!blocks.some(({ type }) => type === "image")) return textOf(blocks);
  return blocks.flatMap((block): JsonObject[] => {
    if (block.type === "text") return [{ type: "text", text: block.text.toWellFormed() }];
    if (block.type !== "image") return [];
    const url = `data:${block.mediaType};base64,${block.base64}`;
    return [{ type: "image_url", image_url: { url } }];
  });
}

function assistantMessage(
  { blocks }: ModelMessage,
  { reasoningName }: ChatRequestOptions,
): JsonObject {
  const calls = blocks.flatMap((block) => (block.type === "call" ? [block.call] : []));
  const thoughts = blocks.flatMap((block) => (block.type === "reasoning" ? [block.text] : []));
  const content = textOf(blocks);
  const reasoning = thoughts.join("");
  return {
    role: "assistant",
    content: content === "" ? null : content,
    ...(reasoningName !== undefined && reasoning !== "" && { [reasoningName]: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls.map(toolCall) }),
  };
}

/** Templates of many models take one text for a message, and no two messages of a role in a row. */
function textOf(blocks: readonly ModelBlock[]): string {
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return texts.join("\n\n").toWellFormed();
}

/** Arguments go back as they came. Those that cannot be read go inside an object: servers read them too. */
function toolCall({ id, name, input, inputText }: ToolCall): JsonObject {
  const unread = input === null ? jsonText({ unreadable: inputText }) : inputText;
  return {
    id,
    type: "function",
    function: { name: plainName(name), arguments: unread.trim() === "" ? "{}" : unread },
  };
}

function tool({ name, description, schema }: ModelTool): JsonObject {
  return { type: "function", function: { name, description, parameters: schema } };
}

function choice(wanted: ToolChoice): JsonObject | string {
  if (typeof wanted === "string") return wanted;
  return { type: "function", function: { name: wanted.tool } };
}
