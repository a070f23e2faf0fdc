import { toToolName } from "../../domain/model/tool-call-names.ts";
import { toJsonText, type JsonObject } from "../../data/json.ts";
import { createRequestBody, type ModelDialect } from "../../domain/model/model-dialect.ts";
import type {
  ModelBlock,
  ModelMessage,
  ModelRequest,
  ModelTool,
  ToolChoice,
} from "../../domain/model/model-request.ts";
import type { ToolCall } from "../../domain/tools/tool-call.ts";
import { formatResultText } from "./result-text.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface ChatRequestOptions {
  /** OpenAI's newer models refuse `max_tokens`, and most other servers know nothing else. */
  readonly limitName?: "max_tokens" | "max_completion_tokens";
  /** For servers that want a model's own reasoning back, the name that they know it by. Others never see it. */
  readonly reasoningName?: "reasoning" | "reasoning_content";
}

/** What the server at an address calls the limit. */
export function resolveLimitName({ hostname }: URL): NonNullable<ChatRequestOptions["limitName"]> {
  return hostname === "api.openai.com" ? "max_completion_tokens" : "max_tokens";
}

/** The body of a chat completion that is streamed. */
export function encodeChatRequest(
  model: string,
  request: ModelRequest,
  options: ChatRequestOptions = {},
): JsonObject {
  return createRequestBody(createChatDialect(model, options), request);
}

export function createChatDialect(
  model: string,
  options: ChatRequestOptions = {},
): ModelDialect<JsonObject, JsonObject> {
  const { limitName = "max_tokens", reasoningName } = options;
  return {
    encodeFields: ({ tools = [], toolChoice, maxTokens, temperature, stopSequences = [] }) => ({
      model,
      ...(tools.length > 0 && { tools: tools.map(encodeTool) }),
      ...(toolChoice !== undefined && { tool_choice: encodeToolChoice(toolChoice) }),
      ...(maxTokens !== undefined && { [limitName]: maxTokens }),
      ...omitUndefined({ temperature }),
      ...(stopSequences.length > 0 && { stop: stopSequences }),
      stream: true,
      stream_options: { include_usage: true },
    }),
    encodeOpening: ({ system }) =>
      system === undefined ? [] : [{ role: "system", content: system }],
    encodeMessage: (message) =>
      message.role === "user"
        ? encodeUserMessages(message)
        : [encodeAssistantMessage(message, options)],
    isSupported: ({ type }) => type !== "reasoning" || reasoningName !== undefined,
  };
}

/** Each result is a message of its own, directly behind the calls. */
function encodeUserMessages({ blocks }: ModelMessage): JsonObject[] {
  const results = blocks.flatMap((block) => (block.type === "tool-result" ? [block.result] : []));
  const content = encodeUserContent(blocks);
  return [
    ...results.map((result) => ({
      role: "tool",
      tool_call_id: result.toolCallId,
      content: formatResultText(result),
    })),
    ...(content === "" ? [] : [{ role: "user", content }]),
  ];
}

/** Text alone goes as text, which every server takes; with pictures it goes in parts. */
function encodeUserContent(blocks: readonly ModelBlock[]): JsonObject[] | string {
  if (!blocks.some(({ type }) => type === "image")) return joinText(blocks);
  return blocks.flatMap((block): JsonObject[] => {
    if (block.type === "text") return [{ type: "text", text: block.text.toWellFormed() }];
    if (block.type !== "image") return [];
    const url = `data:${block.mediaType};base64,${block.base64}`;
    return [{ type: "image_url", image_url: { url } }];
  });
}

function encodeAssistantMessage(
  { blocks }: ModelMessage,
  { reasoningName }: ChatRequestOptions,
): JsonObject {
  const calls = blocks.flatMap((block) => (block.type === "tool-call" ? [block.toolCall] : []));
  const thoughts = blocks.flatMap((block) => (block.type === "reasoning" ? [block.text] : []));
  const content = joinText(blocks);
  const reasoning = thoughts.join("");
  return {
    role: "assistant",
    content: content === "" ? null : content,
    ...(reasoningName !== undefined && reasoning !== "" && { [reasoningName]: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls.map(encodeToolCall) }),
  };
}

/** Templates of many models take one text for a message, and no two messages of a role in a row. */
function joinText(blocks: readonly ModelBlock[]): string {
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return texts.join("\n\n").toWellFormed();
}

/** Arguments go back as they came. Those that cannot be read go inside an object: servers read them too. */
function encodeToolCall({ id, name, input, inputText }: ToolCall): JsonObject {
  const unread = input === null ? toJsonText({ unreadable: inputText }) : inputText;
  return {
    id,
    type: "function",
    function: { name: toToolName(name), arguments: unread.trim() === "" ? "{}" : unread },
  };
}

function encodeTool({ name, description, schema }: ModelTool): JsonObject {
  return { type: "function", function: { name, description, parameters: schema } };
}

function encodeToolChoice(toolChoice: ToolChoice): JsonObject | string {
  if (typeof toolChoice === "string") return toolChoice;
  return { type: "function", function: { name: toolChoice.tool } };
}
