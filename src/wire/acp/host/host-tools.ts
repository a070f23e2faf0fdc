import type { HostTool, HostToolList } from "../../../domain/equipment.ts";
import type { Failure } from "../../../domain/errors.ts";
import { isDeeper } from "../../../domain/is-deeper.ts";
import { isObject, jsonText, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import { shown } from "../../../domain/shown.ts";
import type { RpcAnswer } from "../../jsonrpc/rpc-message.ts";
import { failedAnswer, hostAnswer, type HostAnswer } from "./host-answer.ts";
import { read, unreadable, unwrapped, type Reading } from "./reading.ts";

/** What a host may cost us; all of it goes to the model. */
export const HOST_TOOL_LIMITS = {
  tools: 512,
  nameCharacters: 256,
  schemaDepth: 64,
  /** Of all names, descriptions and schemas together. */
  characters: 1024 * 1024,
} as const;

/** The answer to `host/tools/list`, in any of its shapes. A tool that cannot be used costs no other. */
export function readToolList(answer: RpcAnswer): HostAnswer<HostToolList> {
  return hostAnswer("host/tools/list", answer, readTools);
}

export function toolListResult(tools: readonly HostTool[]): JsonObject {
  return {
    tools: tools.map(({ name, description, schema, deprecated, mcpServer }) => ({
      name,
      description,
      schema,
      deprecated,
      ...(mcpServer !== undefined && { _mcp_server: mcpServer }),
    })),
  };
}

/** The answer to `builtin_call`, which may be anything. A tool that is gone is an error like any other of the host's. */
export function readToolResult(name: string, answer: RpcAnswer): HostAnswer<JsonValue> {
  return answer.ok ? { type: "answered", value: answer.result } : failedAnswer(name, answer.error);
}

function readTools(result: JsonValue): Reading<HostToolList> {
  const inner = unwrapped(result, "tools");
  const list = isObject(inner) ? inner["tools"] : inner;
  if (!Array.isArray(list)) return unreadable("it has no list of tools");
  const { tools: most, characters } = HOST_TOOL_LIMITS;
  if (list.length > most) return unreadable(`it has ${list.length} tools, more than ${most}`);
  const tools = new Map<string, HostTool>();
  const problems: Failure[] = [];
  let length = 0;
  for (const [index, given] of list.entries()) {
    const tool = readNextTool(given, tools);
    if (!tool.ok) {
      problems.push(unusableTool(index, tool.problem));
      continue;
    }
    tools.set(tool.value.name, tool.value);
    length += jsonText(tool.value).length;
    if (length > characters) return unreadable(`it has more than ${characters} characters`);
  }
  return read({ tools: [...tools.values()], problems: shortenedProblems(problems) });
}

/** Each is an event of the session. */
const MOST_PROBLEMS = 16;

function shortenedProblems(problems: readonly Failure[]): readonly Failure[] {
  const more = problems.length - MOST_PROBLEMS;
  if (more <= 0) return problems;
  const message = `${more} more tools of host/tools/list cannot be used`;
  return [...problems.slice(0, MOST_PROBLEMS), { code: "invalid_tool", message, details: {} }];
}

/** Of two tools with one name, the first is the one that is called. */
function readNextTool(given: JsonValue, before: ReadonlyMap<string, HostTool>): Reading<HostTool> {
  const tool = readTool(given);
  if (!tool.ok || !before.has(tool.value.name)) return tool;
  return unreadable(`has the name ${shown(tool.value.name)} again`);
}

function unusableTool(index: number, problem: string): Failure {
  const message = `Tool ${index} of host/tools/list cannot be used: it ${problem}`;
  return { code: "invalid_tool", message, details: {} };
}

function readTool(given: JsonValue): Reading<HostTool> {
  if (!isObject(given)) return unreadable("is not an object");
  const { name, deprecated } = given;
  if (typeof name !== "string" || name.trim() === "") return unreadable("has no name");
  const { nameCharacters, schemaDepth } = HOST_TOOL_LIMITS;
  if (name.length > nameCharacters) {
    return unreadable(`has a name of more than ${nameCharacters} characters`);
  }
  const schema = given["schema"] ?? given["parameters"] ?? given["input_schema"] ?? null;
  if (schema !== null && !isObject(schema)) {
    return unreadable(`(${shown(name)}) has a schema that is ${shown(schema)}: expected an object`);
  }
  if (isDeeper(schema, schemaDepth)) {
    return unreadable(`(${shown(name)}) has a schema of more than ${schemaDepth} levels`);
  }
  const description = [given["description"], given["short_description"]].find(isFilled) ?? "";
  const server = given["_mcp_server"];
  const isNamed = isFilled(server) && server.length <= nameCharacters;
  return read({
    name,
    description,
    schema,
    deprecated: deprecated === true,
    ...(isNamed && { mcpServer: server }),
  });
}

function isFilled(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value !== "";
}
