import { toToolCallId, toToolName } from "../../domain/model/tool-call-names.ts";
import type { JsonObject } from "../../data/json.ts";
import { createRequestBody, type ModelDialect } from "../../domain/model/model-dialect.ts";
import type {
  ModelBlock,
  ModelRequest,
  ModelTool,
  ToolChoice,
} from "../../domain/model/model-request.ts";
import type { ToolResult } from "../../domain/tools/tool-call.ts";
import type { JsonDocument } from "./converse-input.ts";
import { cloneJson, encodeResultPart, encodeReasoning } from "./resume.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** The body of a ConverseStream request. The model id is in the path of the URL. */
export interface ConverseModelRequest extends ConverseFields {
  readonly messages: readonly ConverseModelMessage[];
}

interface ConverseFields {
  system?: { text: string }[];
  inferenceConfig?: { maxTokens?: number; temperature?: number; stopSequences?: string[] };
  toolConfig?: { tools: object[]; toolChoice?: object };
}

interface ConverseModelMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly object[];
}

export function encodeConverseModelRequest(request: ModelRequest): ConverseModelRequest {
  return createRequestBody(converseDialect, request);
}

export const converseDialect: ModelDialect<ConverseFields, ConverseModelMessage> = {
  encodeFields: (request) => {
    const { system, tools = [], toolChoice } = request;
    const inferenceConfig = encodeInferenceConfig(request);
    return {
      ...(system !== undefined && { system: [{ text: system }] }),
      ...(Object.keys(inferenceConfig).length > 0 && { inferenceConfig }),
      ...(tools.length > 0 && {
        toolConfig: {
          tools: tools.map(encodeTool),
          ...(toolChoice !== undefined && { toolChoice: encodeToolChoice(toolChoice) }),
        },
      }),
    };
  },
  encodeOpening: () => [],
  encodeMessage: ({ role, blocks }) => [{ role, content: blocks.flatMap(encodeBlock) }],
  isSupported: isSupportedBlock,
  shapeId: toToolCallId,
};

function encodeInferenceConfig({
  maxTokens,
  temperature,
  stopSequences = [],
}: ModelRequest): NonNullable<ConverseFields["inferenceConfig"]> {
  return {
    ...omitUndefined({ maxTokens, temperature }),
    ...(stopSequences.length > 0 && { stopSequences: [...stopSequences] }),
  };
}

/** Reasoning without text, signature and redacted content is omitted. */
function isSupportedBlock(block: ModelBlock): boolean {
  return block.type !== "reasoning" || encodeReasoning(block).length > 0;
}

/** Encodes a block as in a resume message, but without the `type` of tools, which ConverseStream does not accept. */
function encodeBlock(block: ModelBlock): object[] {
  switch (block.type) {
    case "text":
      return [{ text: block.text.toWellFormed() }];
    case "reasoning":
      return encodeReasoning(block);
    case "tool-call": {
      const { id: toolUseId, name, input, inputText } = block.toolCall;
      return [
        {
          toolUse: { toolUseId, name: toToolName(name), input: input ?? { unreadable: inputText } },
        },
      ];
    }
    case "tool-result":
      return [{ toolResult: encodeToolResult(block.result) }];
    case "image": {
      const format = block.mediaType.slice("image/".length);
      return [{ image: { format, source: { bytes: block.base64 } } }];
    }
    default:
      return block satisfies never;
  }
}

/** Only some models accept a status, so success is expressed by its absence. */
function encodeToolResult({ toolCallId, parts, isError }: ToolResult): object {
  const nonEmptyParts = parts.length === 0 ? [{ type: "text", text: "" } as const] : parts;
  return {
    toolUseId: toolCallId,
    content: nonEmptyParts.map(encodeResultPart),
    ...(isError && { status: "error" }),
  };
}

function encodeTool({ name, description, schema }: ModelTool): {
  toolSpec: { name: string; description: string; inputSchema: { json: JsonDocument } };
} {
  return { toolSpec: { name, description, inputSchema: { json: cloneJson(schema) } } };
}

function encodeToolChoice(toolChoice: ToolChoice): JsonObject {
  if (toolChoice === "auto") return { auto: {} };
  return toolChoice === "required" ? { any: {} } : { tool: { name: toolChoice.tool } };
}
