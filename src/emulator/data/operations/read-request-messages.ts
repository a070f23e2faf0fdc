import type { JsonObject, JsonValue } from "../../../data/json.ts";
import {
  TOOL_USE_KINDS,
  type Content,
  type Message,
  type ReasoningContent,
  type ResultPart,
  type ToolResult,
  type ToolUse,
} from "../../brains/session-message.ts";
import type { Constraints, Member } from "../../service/constraints.ts";
import { TOOL_NAME_RULE } from "../../service/check-tool.ts";

/** Reads the messages of a request by the rules of the service model. Violations are collected in `constraints`. */
export function readMessages(constraints: Constraints, value: Member): Message[] {
  return readFilledList(constraints, "messages", value).map((entry, number) => {
    const path = `messages.${number + 1}.member`;
    const { role, content } = constraints.readStructure(path, entry);
    return {
      role: constraints.readChoice(`${path}.role`, role, ["user", "assistant"]),
      content: readFilledList(constraints, `${path}.content`, content).flatMap((block, position) =>
        readContent(constraints, { path: `${path}.content.${position + 1}.member`, role, block }),
      ),
    };
  });
}

/** Reads a list that must not be empty. */
function readFilledList(
  constraints: Constraints,
  path: string,
  value: Member,
): readonly JsonValue[] {
  const list = constraints.readList(path, value);
  if (Array.isArray(value) && value.length === 0) {
    constraints.refuse(path, value, "have length greater than or equal to 1");
  }
  return list;
}

interface BlockContext {
  readonly path: string;
  readonly role: Member;
  readonly block: JsonValue;
}

const BLOCK_TYPES = ["text", "toolUse", "toolResult", "reasoningContent"];

function readContent(constraints: Constraints, { path, role, block }: BlockContext): Content[] {
  const member = constraints.readUnion(path, block, BLOCK_TYPES);
  if (member === null) return [];
  const [name, content] = member;
  const inner = `${path}.${name}`;
  const requireRole = (owner: Message["role"]): void => {
    const isWrongRole = role !== owner && (role === "user" || role === "assistant");
    if (isWrongRole) constraints.refuse(inner, content, `be in a message of the role ${owner}`);
  };
  switch (name) {
    case "text":
      return [{ text: constraints.readText(inner, content, { min: 1 }) }];
    case "toolUse":
      requireRole("assistant");
      return [{ toolUse: readToolUse(constraints, inner, content) }];
    case "toolResult":
      requireRole("user");
      return [{ toolResult: readToolResult(constraints, inner, content) }];
    default:
      return readReasoning(constraints, inner, content).map((reasoning) => ({
        reasoningContent: reasoning,
      }));
  }
}

function readToolUse(constraints: Constraints, path: string, value: JsonValue): ToolUse {
  const { name, toolUseId, input, type, serverName } = constraints.readStructure(path, value);
  if (input === undefined || input === null)
    constraints.refuse(`${path}.input`, null, "not be null");
  return {
    name: constraints.readText(`${path}.name`, name, TOOL_NAME_RULE),
    toolUseId: constraints.readText(`${path}.toolUseId`, toolUseId, TOOL_NAME_RULE),
    input: input ?? {},
    ...(type === undefined
      ? {}
      : { type: constraints.readChoice(`${path}.type`, type, TOOL_USE_KINDS) }),
    ...(serverName === undefined
      ? {}
      : { serverName: constraints.readText(`${path}.serverName`, serverName) }),
  };
}

function readToolResult(constraints: Constraints, path: string, value: JsonValue): ToolResult {
  const { toolUseId, content, status } = constraints.readStructure(path, value);
  return {
    toolUseId: constraints.readText(`${path}.toolUseId`, toolUseId, TOOL_NAME_RULE),
    content: constraints
      .readList(`${path}.content`, content)
      .flatMap((part, position) =>
        readPart(constraints, `${path}.content.${position + 1}.member`, part),
      ),
    ...(status === undefined
      ? {}
      : { status: constraints.readChoice(`${path}.status`, status, ["success", "error"]) }),
  };
}

function readPart(constraints: Constraints, path: string, value: JsonValue): ResultPart[] {
  const member = constraints.readUnion(path, value, ["text", "json"]);
  if (member === null) return [];
  const [name, part] = member;
  if (name === "json") return [{ json: part }];
  return [{ text: constraints.readText(`${path}.text`, part, { min: 1 }) }];
}

function readReasoning(
  constraints: Constraints,
  path: string,
  value: JsonValue,
): ReasoningContent[] {
  const member = constraints.readUnion(path, value, ["reasoningText", "redactedContent"]);
  if (member === null) return [];
  const [name, content] = member;
  if (name === "redactedContent") {
    return [{ redactedContent: constraints.readText(`${path}.redactedContent`, content) }];
  }
  const { text, signature }: JsonObject = constraints.readStructure(
    `${path}.reasoningText`,
    content,
  );
  return [
    {
      reasoningText: {
        text: constraints.readText(`${path}.reasoningText.text`, text),
        ...(typeof signature === "string" ? { signature } : {}),
      },
    },
  ];
}
