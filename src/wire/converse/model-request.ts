import { plainId, plainName } from "../../domain/call-names.ts";
import type { JsonObject } from "../../domain/json.ts";
import { requestBody, type ModelDialect } from "../../domain/model-dialect.ts";
import type {
  ModelBlock,
  ModelRequest,
  ModelTool,
  ToolChoice,
} from "../../domain/model-request.ts";
import type { ToolResult } from "../../domain/tool.ts";
import type { JsonDocument } from "./request.ts";
import { document, partContent, reasoning } from "./resume.ts";

/** The body of a ConverseStream request. The model is named by the path. */
export interface ConverseModelRequest extends ConverseFields {
  readonly messages: readonly ConverseMessage[];
}

interface ConverseFields {
  system?: { text: string }[];
  inferenceConfig?: { maxTokens?: number; temperature?: number; stopSequences?: string[] };
  toolConfig?: { tools: object[]; toolChoice?: object };
}

interface ConverseMessage {
  readonly role: "user" | "assistant";
  readonly content: readonly object[];
}

export function converseModelRequest(request: ModelRequest): ConverseModelRequest {
  return requestBody(converseDialect, request);
}

export const converseDialect: ModelDialect<ConverseFields, ConverseMessage> = {
  fields: (request) => {
    const { system, tools = [], toolChoice } = request;
    const inferenceConfig = inferenceConfigOf(request);
    return {
      ...(system !== undefined && { system: [{ text: system }] }),
      ...(Object.keys(inferenceConfig).length > 0 && { inferenceConfig }),
      ...(tools.length > 0 && {
        toolConfig: {
          tools: tools.map(tool),
          ...(toolChoice !== undefined && { toolChoice: choice(toolChoice) }),
        },
      }),
    };
  },
  opening: () => [],
  encode: ({ role, blocks }) => [{ role, content: blocks.flatMap(content) }],
  isTaken,
  shapeId: plainId,
};

function inferenceConfigOf({
  maxTokens,
  temperature,
  stopSequences = [],
}: ModelRequest): NonNullable<ConverseFields["inferenceConfig"]> {
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(stopSequences.length > 0 && { stopSequences: [...stopSequences] }),
  };
}

/** A thought that says nothing, not even sealed, is none. */
function isTaken(block: ModelBlock): boolean {
  return block.type !== "reasoning" || reasoning(block).length > 0;
}

/** As a resume of a harness has it, but without the types of tools, which ConverseStream does not know. */
function content(block: ModelBlock): object[] {
  switch (block.type) {
    case "text":
      return [{ text: block.text.toWellFormed() }];
    case "reasoning":
      return reasoning(block);
    case "call": {
      const { id: toolUseId, name, input, inputText } = block.call;
      return [
        {
          toolUse: { toolUseId, name: plainName(name), input: input ?? { unreadable: inputText } },
        },
      ];
    }
    case "result":
      return [{ toolResult: toolResult(block.result) }];
    case "image": {
      const format = block.mediaType.slice("image/".length);
      return [{ image: { format, source: { bytes: block.base64 } } }];
    }
    default:
      return block satisfies never;
  }
}

/** Only some models know a status; that a tool did its work goes without saying. */
function toolResult({ callId, parts, isError }: ToolResult): object {
  const given = parts.length === 0 ? [{ type: "text", text: "" } as const] : parts;
  return {
    toolUseId: callId,
    content: given.map(partContent),
    ...(isError && { status: "error" }),
  };
}

function tool({ name, description, schema }: ModelTool): {
  toolSpec: { name: string; description: string; inputSchema: { json: JsonDocument } };
} {
  return { toolSpec: { name, description, inputSchema: { json: document(schema) } } };
}

function choice(wanted: ToolChoice): JsonObject {
  if (wanted === "auto") return { auto: {} };
  return wanted === "required" ? { any: {} } : { tool: { name: wanted.tool } };
}
