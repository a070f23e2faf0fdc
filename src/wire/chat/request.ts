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
  /**
   * The name of the token limit. Newer OpenAI models refuse `max_tokens`; most other servers know only `max_tokens`.
   * Default: `max_tokens`.
   */
  readonly limitName?: "max_tokens" | "max_completion_tokens";
  /** The field in which the server expects earlier reasoning of the model. If absent, reasoning is not sent. */
  readonly reasoningName?: "reasoning" | "reasoning_content";
}

/** Returns the name of the token limit for the server at a URL. */
export function resolveLimitName({ hostname }: URL): NonNullable<ChatRequestOptions["limitName"]> {
  return hostname === "api.openai.com" ? "max_completion_tokens" : "max_tokens";
}

/** Encodes the body of a streamed chat completion. */
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

/** Each result is a separate message directly after the tool calls. */
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

/** Content without images is sent as a string, which every server accepts; content with images is sent in parts. */
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

/** Prompt templates of many models expect one string per message and no two adjacent messages of the same role. */
function joinText(blocks: readonly ModelBlock[]): string {
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  return texts.join("\n\n").toWellFormed();
}

/**
 * Arguments are sent back unchanged. Unreadable arguments are wrapped in an object, because servers parse the
 * arguments.
 */
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
