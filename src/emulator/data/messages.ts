import type { JsonObject, JsonValue } from "../../domain/json.ts";
import {
  CALL_KINDS,
  type Content,
  type Message,
  type ReasoningContent,
  type ResultPart,
  type ToolResult,
  type ToolUse,
} from "../brains/message.ts";
import type { Constraints, Member } from "../constraints.ts";
import { TOOL_NAME } from "../tool-rules.ts";

/** Reads the messages of a request by the rules of the service's model. What is wrong with them is in `constraints`. */
export function readMessages(constraints: Constraints, value: Member): Message[] {
  return filled(constraints, "messages", value).map((entry, number) => {
    const path = `messages.${number + 1}.member`;
    const { role, content } = constraints.structure(path, entry);
    return {
      role: constraints.oneOf(`${path}.role`, role, ["user", "assistant"]),
      content: filled(constraints, `${path}.content`, content).flatMap((block, position) =>
        readContent(constraints, { path: `${path}.content.${position + 1}.member`, role, block }),
      ),
    };
  });
}

/** A list with something in it. */
function filled(constraints: Constraints, path: string, value: Member): readonly JsonValue[] {
  const list = constraints.list(path, value);
  if (Array.isArray(value) && value.length === 0) {
    constraints.refuse(path, value, "have length greater than or equal to 1");
  }
  return list;
}

interface BlockAt {
  readonly path: string;
  readonly role: Member;
  readonly block: JsonValue;
}

const BLOCKS = ["text", "toolUse", "toolResult", "reasoningContent"];

function readContent(constraints: Constraints, { path, role, block }: BlockAt): Content[] {
  const member = constraints.union(path, block, BLOCKS);
  if (member === null) return [];
  const [name, content] = member;
  const inner = `${path}.${name}`;
  const onlyIn = (owner: Message["role"]): void => {
    const isElsewhere = role !== owner && (role === "user" || role === "assistant");
    if (isElsewhere) constraints.refuse(inner, content, `be in a message of the role ${owner}`);
  };
  switch (name) {
    case "text":
      return [{ text: constraints.text(inner, content, { least: 1 }) }];
    case "toolUse":
      onlyIn("assistant");
      return [{ toolUse: readToolUse(constraints, inner, content) }];
    case "toolResult":
      onlyIn("user");
      return [{ toolResult: readToolResult(constraints, inner, content) }];
    default:
      return readReasoning(constraints, inner, content).map((one) => ({ reasoningContent: one }));
  }
}

function readToolUse(constraints: Constraints, path: string, value: JsonValue): ToolUse {
  const { name, toolUseId, input, type, serverName } = constraints.structure(path, value);
  if (input === undefined || input === null)
    constraints.refuse(`${path}.input`, null, "not be null");
  return {
    name: constraints.text(`${path}.name`, name, TOOL_NAME),
    toolUseId: constraints.text(`${path}.toolUseId`, toolUseId, TOOL_NAME),
    input: input ?? {},
    ...(type === undefined ? {} : { type: constraints.oneOf(`${path}.type`, type, CALL_KINDS) }),
    ...(serverName === undefined
      ? {}
      : { serverName: constraints.text(`${path}.serverName`, serverName) }),
  };
}

function readToolResult(constraints: Constraints, path: string, value: JsonValue): ToolResult {
  const { toolUseId, content, status } = constraints.structure(path, value);
  return {
    toolUseId: constraints.text(`${path}.toolUseId`, toolUseId, TOOL_NAME),
    content: constraints
      .list(`${path}.content`, content)
      .flatMap((part, position) =>
        readPart(constraints, `${path}.content.${position + 1}.member`, part),
      ),
    ...(status === undefined
      ? {}
      : { status: constraints.oneOf(`${path}.status`, status, ["success", "error"]) }),
  };
}

function readPart(constraints: Constraints, path: string, value: JsonValue): ResultPart[] {
  const member = constraints.union(path, value, ["text", "json"]);
  if (member === null) return [];
  const [name, part] = member;
  if (name === "json") return [{ json: part }];
  return [{ text: constraints.text(`${path}.text`, part, { least: 1 }) }];
}

function readReasoning(
  constraints: Constraints,
  path: string,
  value: JsonValue,
): ReasoningContent[] {
  const member = constraints.union(path, value, ["reasoningText", "redactedContent"]);
  if (member === null) return [];
  const [name, content] = member;
  if (name === "redactedContent") {
    return [{ redactedContent: constraints.text(`${path}.redactedContent`, content) }];
  }
  const { text, signature }: JsonObject = constraints.structure(`${path}.reasoningText`, content);
  return [
    {
      reasoningText: {
        text: constraints.text(`${path}.reasoningText.text`, text),
        ...(typeof signature === "string" ? { signature } : {}),
      },
    },
  ];
}
