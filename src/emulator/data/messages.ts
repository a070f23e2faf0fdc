import type { JsonValue } from "../../domain/json.ts";
import type {
  Content,
  Message,
  ReasoningContent,
  ResultPart,
  ToolResult,
  ToolUse,
} from "../brains/message.ts";
import type { Constraints } from "./constraints.ts";

/** Reads the messages of a request by the rules of the service's model. What is wrong with them is in `constraints`. */
export function readMessages(constraints: Constraints, value: unknown): Message[] {
  return constraints.list("messages", value).map((entry, number) => {
    const path = `messages.${number + 1}.member`;
    const fields = constraints.structure(path, entry);
    return {
      role: constraints.oneOf(`${path}.role`, fields["role"], ["user", "assistant"]),
      content: constraints
        .list(`${path}.content`, fields["content"])
        .flatMap((block, position) =>
          readContent(constraints, `${path}.content.${position + 1}.member`, block),
        ),
    };
  });
}

function readContent(constraints: Constraints, path: string, value: unknown): Content[] {
  const member = constraints.union(path, value, [
    "text",
    "toolUse",
    "toolResult",
    "reasoningContent",
  ]);
  if (member === null) return [];
  const [name, content] = member;
  const inner = `${path}.${name}`;
  switch (name) {
    case "text":
      return [{ text: constraints.text(inner, content, { least: 1 }) }];
    case "toolUse":
      return [{ toolUse: readToolUse(constraints, inner, content) }];
    case "toolResult":
      return [{ toolResult: readToolResult(constraints, inner, content) }];
    default:
      return readReasoning(constraints, inner, content).map((one) => ({ reasoningContent: one }));
  }
}

const NAME = { least: 1, most: 64, pattern: "[a-zA-Z0-9_-]+" };
const KINDS = ["tool_use", "server_tool_use", "mcp_tool_use"] as const;

function readToolUse(constraints: Constraints, path: string, value: unknown): ToolUse {
  const { name, toolUseId, input, type, serverName } = constraints.structure(path, value);
  if (input === undefined) constraints.refuse(`${path}.input`, null, "not be null");
  return {
    name: constraints.text(`${path}.name`, name, NAME),
    toolUseId: constraints.text(`${path}.toolUseId`, toolUseId, NAME),
    input: input as JsonValue,
    ...(type === undefined ? {} : { type: constraints.oneOf(`${path}.type`, type, KINDS) }),
    ...(serverName === undefined
      ? {}
      : { serverName: constraints.text(`${path}.serverName`, serverName) }),
  };
}

function readToolResult(constraints: Constraints, path: string, value: unknown): ToolResult {
  const { toolUseId, content, status } = constraints.structure(path, value);
  return {
    toolUseId: constraints.text(`${path}.toolUseId`, toolUseId, NAME),
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

function readPart(constraints: Constraints, path: string, value: unknown): ResultPart[] {
  const member = constraints.union(path, value, ["text", "json"]);
  if (member === null) return [];
  const [name, part] = member;
  if (name === "json") return [{ json: part as JsonValue }];
  return [{ text: constraints.text(`${path}.text`, part, { least: 1 }) }];
}

function readReasoning(constraints: Constraints, path: string, value: unknown): ReasoningContent[] {
  const member = constraints.union(path, value, ["reasoningText", "redactedContent"]);
  if (member === null) return [];
  const [name, content] = member;
  if (name === "redactedContent") {
    return [{ redactedContent: constraints.text(`${path}.redactedContent`, content) }];
  }
  const { text, signature } = constraints.structure(`${path}.reasoningText`, content);
  return [
    {
      reasoningText: {
        text: constraints.text(`${path}.reasoningText.text`, text),
        ...(typeof signature === "string" ? { signature } : {}),
      },
    },
  ];
}
