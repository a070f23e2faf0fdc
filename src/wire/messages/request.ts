import { toToolCallId, toToolName } from "../../domain/model/tool-call-names.ts";
import type { JsonObject } from "../../data/json.ts";
import { createRequestBody, type ModelDialect } from "../../domain/model/model-dialect.ts";
import type {
  ModelBlock,
  ModelRequest,
  ModelTool,
  ToolChoice,
} from "../../domain/model/model-request.ts";
import type { ToolCall, ToolResult } from "../../domain/tools/tool-call.ts";
import type { TurnBlock } from "../../domain/provider/turn.ts";
import { formatResultPart } from "../chat/result-text.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** Encodes the body of a streamed Messages API request. */
export function encodeMessagesRequest(model: string, request: ModelRequest): JsonObject {
  return createRequestBody(createMessagesDialect(model), request);
}

export function createMessagesDialect(model: string): ModelDialect<JsonObject, JsonObject> {
  return {
    encodeFields: (request) => {
      const { system, tools = [], toolChoice, temperature, stopSequences = [] } = request;
      const { maxTokens = DEFAULT_MAX_TOKENS } = request;
      return {
        model,
        max_tokens: maxTokens,
        ...omitUndefined({ system }),
        ...(tools.length > 0 && { tools: tools.map(encodeTool) }),
        ...(toolChoice !== undefined && { tool_choice: encodeToolChoice(toolChoice) }),
        ...omitUndefined({ temperature }),
        ...(stopSequences.length > 0 && { stop_sequences: stopSequences }),
        stream: true,
      };
    },
    encodeOpening: () => [],
    encodeMessage: ({ role, blocks }) => [{ role, content: blocks.flatMap(encodeBlock) }],
    isSupported: isSupportedBlock,
    shapeId: toToolCallId,
  };
}

/** The API requires a limit. The oldest models still served support this number of output tokens. */
const DEFAULT_MAX_TOKENS = 8192;

/** The API refuses thinking without the signature of the model. */
function isSupportedBlock(block: ModelBlock): boolean {
  if (block.type !== "reasoning") return true;
  return block.signature !== undefined || block.redacted !== undefined;
}

function encodeBlock(block: ModelBlock): JsonObject[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text.toWellFormed() }];
    case "reasoning":
      return encodeReasoning(block);
    case "tool-call":
      return [encodeToolUse(block.toolCall)];
    case "tool-result":
      return [encodeToolResult(block.result)];
    case "image": {
      const { mediaType, base64 } = block;
      return [{ type: "image", source: { type: "base64", media_type: mediaType, data: base64 } }];
    }
    default:
      return block satisfies never;
  }
}

function encodeReasoning(block: Extract<TurnBlock, { type: "reasoning" }>): JsonObject[] {
  const { text, signature, redacted } = block;
  if (redacted !== undefined) return [{ type: "redacted_thinking", data: redacted }];
  return signature === undefined ? [] : [{ type: "thinking", thinking: text, signature }];
}

function encodeToolUse({ id, name, input, inputText }: ToolCall): JsonObject {
  return {
    type: "tool_use",
    id,
    name: toToolName(name),
    input: input ?? { unreadable: inputText },
  };
}

/** The API refuses blank text, but accepts a result without content. */
function encodeToolResult({ toolCallId, parts, isError }: ToolResult): JsonObject {
  const texts = parts.map(formatResultPart).filter((text) => text.trim() !== "");
  return {
    type: "tool_result",
    tool_use_id: toolCallId,
    ...(texts.length > 0 && {
      content: texts.map((text) => ({ type: "text", text: text.toWellFormed() })),
    }),
    ...(isError && { is_error: true }),
  };
}

function encodeTool({ name, description, schema }: ModelTool): JsonObject {
  return { name, description, input_schema: schema };
}

function encodeToolChoice(toolChoice: ToolChoice): JsonObject {
  if (toolChoice === "auto") return { type: "auto" };
  return toolChoice === "required" ? { type: "any" } : { type: "tool", name: toolChoice.tool };
}
