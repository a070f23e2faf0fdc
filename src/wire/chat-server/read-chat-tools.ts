import type { PromptTool } from "../../domain/prompt.ts";
import { isObject, type JsonObject } from "../../data/json.ts";
import { describeTool } from "../responses/tool-name.ts";
import { rejectRequest, rejectType } from "./reject-request.ts";

/** `only` lists the tools which may be called. */
export type ChatToolChoice = "auto" | { readonly only: readonly string[] };

export function readChatTools(value: unknown): readonly PromptTool[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return rejectType("tools", value, "a list of tools");
  if (value.length > MAX_TOOLS)
    rejectRequest("tools", "too_large", `tools has more than ${MAX_TOOLS} entries`);
  const tools = value.map((tool: unknown, at) => readTool(tool, `tools[${at}]`));
  const names = new Set<string>();
  for (const [at, { name }] of tools.entries()) {
    if (names.has(name)) {
      rejectRequest(
        `tools[${at}].function.name`,
        "invalid_value",
        `The tool ${name} is defined twice`,
      );
    }
    names.add(name);
  }
  return tools;
}

const MAX_TOOLS = 128;

function readTool(value: unknown, param: string): PromptTool {
  const fields = isObject(value) ? value["function"] : undefined;
  if (!isObject(value) || value["type"] !== "function" || !isObject(fields)) {
    return rejectRequest(
      param,
      "invalid_value",
      `${param} is not a tool of type "function"; other types are not supported`,
    );
  }
  const { name, description, parameters } = fields;
  const at = `${param}.function`;
  if (typeof name !== "string" || !TOOL_NAME.test(name)) {
    return rejectType(`${at}.name`, name, `1 to 64 letters, digits, "_" and "-"`);
  }
  if (description !== undefined && description !== null && typeof description !== "string") {
    return rejectType(`${at}.description`, description, "a string");
  }
  return {
    name,
    description: describeTool(name, description),
    schema: readSchema(parameters, `${at}.parameters`),
  };
}

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

function readSchema(value: unknown, param: string): JsonObject {
  if (value === undefined || value === null) return { type: "object", properties: {} };
  return isObject(value)
    ? (value as JsonObject)
    : rejectType(param, value, "a JSON Schema of an object");
}

/** Reads `tool_choice`. `required` is refused, because an agent cannot be forced to call a tool. */
export function readChatToolChoice(value: unknown, tools: readonly PromptTool[]): ChatToolChoice {
  if (value === undefined || value === null || value === "auto") return "auto";
  if (value === "none") return { only: [] };
  if (value === "required") return rejectForcedTool("tool_choice");
  if (!isObject(value)) return rejectType("tool_choice", value, CHOICES);
  const { type } = value;
  if (type === "function") return { only: [readToolName(value, "tool_choice", tools)] };
  const { allowed_tools: allowed } = value;
  if (type !== "allowed_tools" || !isObject(allowed)) {
    return rejectRequest("tool_choice", "invalid_value", `tool_choice is not one of ${CHOICES}`);
  }
  if (allowed["mode"] === "required") return rejectForcedTool("tool_choice.allowed_tools.mode");
  const list = allowed["tools"];
  const param = "tool_choice.allowed_tools.tools";
  if (!Array.isArray(list)) return rejectType(param, list, "a list of tools");
  return { only: list.map((tool: unknown, at) => readToolName(tool, `${param}[${at}]`, tools)) };
}

const CHOICES = `"auto", "none", a function or allowed_tools`;

function readToolName(value: unknown, param: string, tools: readonly PromptTool[]): string {
  const functionFields = isObject(value) ? value["function"] : undefined;
  const name = isObject(functionFields) ? functionFields["name"] : undefined;
  if (typeof name === "string" && tools.some((tool) => tool.name === name)) return name;
  return rejectRequest(param, "invalid_value", `${param} does not name a tool of this request`);
}

function rejectForcedTool(param: string): never {
  const message = `${param} is "required": an agent cannot be forced to call a tool. Fix: use "auto"`;
  return rejectRequest(param, "unsupported_tool_choice", message);
}
