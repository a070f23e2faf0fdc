import type { HostTool, HostToolList } from "../../../domain/client-tools.ts";
import type { Failure } from "../../../domain/errors.ts";
import {
  exceedsDepth,
  isObject,
  toJsonText,
  type JsonObject,
  type JsonValue,
} from "../../../data/json.ts";
import { formatValue } from "../../../text/format-value.ts";
import type { RpcResponse } from "../../jsonrpc/rpc-message.ts";
import { createFailedReply, readHostReply, type HostReply } from "./host-reply.ts";
import { acceptValue, rejectValue, unwrap, type ReadResult } from "./read-result.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** Limits for a host's tool list, because the whole list is sent to the model. */
export const HOST_TOOL_LIMITS = {
  tools: 512,
  nameCharacters: 256,
  schemaDepth: 64,
  /** Characters of all names, descriptions and schemas together. */
  characters: 1024 * 1024,
} as const;

/**
 * Reads the reply to `host/tools/list` in any of its shapes. An invalid tool is reported as a problem and does not
 * affect the other tools.
 */
export function readToolList(answer: RpcResponse): HostReply<HostToolList> {
  return readHostReply("host/tools/list", answer, readTools);
}

export function encodeToolList(tools: readonly HostTool[]): JsonObject {
  return {
    tools: tools.map(({ name, description, schema, deprecated, mcpServer }) => ({
      name,
      description,
      schema,
      deprecated,
      ...omitUndefined({ _mcp_server: mcpServer }),
    })),
  };
}

/** Reads the reply to `builtin_call`, which may be any JSON value. A missing tool is an error like any other. */
export function readToolResult(name: string, answer: RpcResponse): HostReply<JsonValue> {
  return answer.ok
    ? { type: "answered", value: answer.result }
    : createFailedReply(name, answer.error);
}

function readTools(result: JsonValue): ReadResult<HostToolList> {
  const inner = unwrap(result, "tools");
  const list = isObject(inner) ? inner["tools"] : inner;
  if (!Array.isArray(list)) return rejectValue("it has no list of tools");
  const { tools: maxTools, characters } = HOST_TOOL_LIMITS;
  if (list.length > maxTools)
    return rejectValue(`it has ${list.length} tools, more than ${maxTools}`);
  const tools = new Map<string, HostTool>();
  const problems: Failure[] = [];
  let length = 0;
  for (const [index, entry] of list.entries()) {
    const tool = readNextTool(entry, tools);
    if (!tool.ok) {
      problems.push(createToolProblem(index, tool.problem));
      continue;
    }
    tools.set(tool.value.name, tool.value);
    length += toJsonText(tool.value).length;
    if (length > characters) return rejectValue(`it has more than ${characters} characters`);
  }
  return acceptValue({ tools: [...tools.values()], problems: limitProblems(problems) });
}

/** Each problem is stored as an event of the session. */
const MAX_PROBLEMS = 16;

function limitProblems(problems: readonly Failure[]): readonly Failure[] {
  const omittedCount = problems.length - MAX_PROBLEMS;
  if (omittedCount <= 0) return problems;
  const message = `${omittedCount} more tools of host/tools/list cannot be used`;
  return [...problems.slice(0, MAX_PROBLEMS), { code: "invalid_tool", message, details: {} }];
}

/** Rejects a second tool with the same name; the first tool is used. */
function readNextTool(
  entry: JsonValue,
  knownTools: ReadonlyMap<string, HostTool>,
): ReadResult<HostTool> {
  const tool = readTool(entry);
  if (!tool.ok || !knownTools.has(tool.value.name)) return tool;
  return rejectValue(`has the duplicate name ${formatValue(tool.value.name)}`);
}

function createToolProblem(index: number, problem: string): Failure {
  const message = `Tool ${index} of host/tools/list cannot be used: it ${problem}`;
  return { code: "invalid_tool", message, details: {} };
}

function readTool(entry: JsonValue): ReadResult<HostTool> {
  if (!isObject(entry)) return rejectValue("is not an object");
  const { name, deprecated } = entry;
  if (typeof name !== "string" || name.trim() === "") return rejectValue("has no name");
  const { nameCharacters, schemaDepth } = HOST_TOOL_LIMITS;
  if (name.length > nameCharacters) {
    return rejectValue(`has a name of more than ${nameCharacters} characters`);
  }
  const schema = entry["schema"] ?? entry["parameters"] ?? entry["input_schema"] ?? null;
  if (schema !== null && !isObject(schema)) {
    return rejectValue(
      `(${formatValue(name)}) has a schema that is ${formatValue(schema)}: expected an object`,
    );
  }
  if (exceedsDepth(schema, schemaDepth)) {
    return rejectValue(`(${formatValue(name)}) has a schema of more than ${schemaDepth} levels`);
  }
  const description =
    [entry["description"], entry["short_description"]].find(isNonEmptyString) ?? "";
  const server = entry["_mcp_server"];
  const isNamed = isNonEmptyString(server) && server.length <= nameCharacters;
  return acceptValue({
    name,
    description,
    schema,
    deprecated: deprecated === true,
    ...(isNamed && { mcpServer: server }),
  });
}

function isNonEmptyString(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value !== "";
}
