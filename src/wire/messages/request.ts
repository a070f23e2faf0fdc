import { plainId, plainName } from "../../domain/call-names.ts";
import type { JsonObject } from "../../domain/json.ts";
import { requestBody, type ModelDialect } from "../../domain/model-dialect.ts";
import type {
  ModelBlock,
  ModelRequest,
  ModelTool,
  ToolChoice,
} from "../../domain/model-request.ts";
import type { ToolCall, ToolResult } from "../../domain/tool.ts";
import type { TurnBlock } from "../../domain/turn.ts";
import { partText } from "../chat/result-text.ts";

/** The body of a call to the Messages API that is streamed. */
export function messagesRequest(model: string, request: ModelRequest): JsonObject {
  return requestBody(messagesDialect(model), request);
}

export function messagesDialect(model: string): ModelDialect<JsonObject, JsonObject> {
  return {
    fields: (request) => {
      const { system, tools = [], toolChoice, temperature, stopSequences = [] } = request;
      const { maxTokens = DEFAULT_MAX_TOKENS } = request;
      return {
        model,
        max_tokens: maxTokens,
        ...(system !== undefined && { system }),
        ...(tools.length > 0 && { tools: tools.map(tool) }),
        ...(toolChoice !== undefined && { tool_choice: choice(toolChoice) }),
        ...(temperature !== undefined && { temperature }),
        ...(stopSequences.length > 0 && { stop_sequences: stopSequences }),
        stream: true,
      };
    },
    opening: () => [],
    encode: ({ role, blocks }) => [{ role, content: blocks.flatMap(content) }],
    isTaken,
    shapeId: plainId,
  };
}

/** The API demands a limit; the oldest models that are still served can say this much. */
const DEFAULT_MAX_TOKENS = 8192;

/** Thinking without the seal of the model that thought it is refused. */
function isTaken(block: ModelBlock): boolean {
  if (block.type !== "reasoning") return true;
  return block.signature !== undefined || block.redacted !== undefined;
}

function content(block: ModelBlock): JsonObject[] {
  switch (block.type) {
    case "text":
      return [{ type: "text", text: block.text.toWellFormed() }];
    case "reasoning":
      return reasoning(block);
    case "call":
      return [toolUse(block.call)];
    case "result":
      return [toolResult(block.result)];
    case "image": {
      const { mediaType, base64 } = block;
      return [{ type: "image", source: { type: "base64", media_type: mediaType, data: base64 } }];
    }
    default:
      return block satisfies never;
  }
}

function reasoning(block: Extract<TurnBlock, { type: "reasoning" }>): JsonObject[] {
  const { text, signature, redacted } = block;
  if (redacted !== undefined) return [{ type: "redacted_thinking", data: redacted }];
  return signature === undefined ? [] : [{ type: "thinking", thinking: text, signature }];
}

function toolUse({ id, name, input, inputText }: ToolCall): JsonObject {
  return { type: "tool_use", id, name: plainName(name), input: input ?? { unreadable: inputText } };
}

/** The API refuses blank text, and takes a result without any content. */
function toolResult({ callId, parts, isError }: ToolResult): JsonObject {
  const texts = parts.map(partText).filter((text) => text.trim() !== "");
  return {
    type: "tool_result",
    tool_use_id: callId,
    ...(texts.length > 0 && {
      content: texts.map((text) => ({ type: "text", text: text.toWellFormed() })),
    }),
    ...(isError && { is_error: true }),
  };
}

function tool({ name, description, schema }: ModelTool): JsonObject {
  return { name, description, input_schema: schema };
}

function choice(wanted: ToolChoice): JsonObject {
  if (wanted === "auto") return { type: "auto" };
  return wanted === "required" ? { type: "any" } : { type: "tool", name: wanted.tool };
}
