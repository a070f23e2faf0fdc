import type { HostTool } from "../../../domain/equipment.ts";
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

/**
 * The answer to `host/tools/list`, in any of its shapes. A list with one tool that cannot be told from others, or be
 * called, is no list: whoever wrote the host finds out at once.
 */
export function readToolList(answer: RpcAnswer): HostAnswer<readonly HostTool[]> {
  return hostAnswer("host/tools/list", answer, readTools);
}

export function toolListResult(tools: readonly HostTool[]): JsonObject {
  return {
    tools: tools.map(({ name, description, schema, deprecated }) => ({
      name,
      description,
      schema,
      deprecated,
    })),
  };
}

/** The answer to `builtin_call`, which may be anything. A tool that is gone is an error like any other of the host's. */
export function readToolResult(name: string, answer: RpcAnswer): HostAnswer<JsonValue> {
  return answer.ok ? { type: "answered", value: answer.result } : failedAnswer(name, answer.error);
}

function readTools(result: JsonValue): Reading<readonly HostTool[]> {
  const inner = unwrapped(result, "tools");
  const list = isObject(inner) ? inner["tools"] : inner;
  if (!Array.isArray(list)) return unreadable("it has no list of tools");
  const { tools: most, characters } = HOST_TOOL_LIMITS;
  if (list.length > most) return unreadable(`it has ${list.length} tools, more than ${most}`);
  const tools = new Map<string, HostTool>();
  let length = 0;
  for (const [index, given] of list.entries()) {
    const tool = readTool(given);
    if (!tool.ok) return unreadable(`tool ${index} ${tool.problem}`);
    const { name } = tool.value;
    if (tools.has(name)) return unreadable(`tool ${index} has the name ${shown(name)} again`);
    tools.set(name, tool.value);
    length += jsonText(tool.value).length;
    if (length > characters) return unreadable(`it has more than ${characters} characters`);
  }
  return read([...tools.values()]);
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
    return unreadable(`(${shown(name)}) has a schema that is ${shown(schema)}, and no object`);
  }
  if (isDeeper(schema, schemaDepth)) {
    return unreadable(`(${shown(name)}) has a schema of more than ${schemaDepth} levels`);
  }
  const description = [given["description"], given["short_description"]].find(isFilled) ?? "";
  return read({ name, description, schema, deprecated: deprecated === true });
}

function isFilled(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value !== "";
}
