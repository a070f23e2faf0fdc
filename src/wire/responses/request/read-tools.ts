import { isWireName } from "../tool-name.ts";
import type { RequestTool, RequestToolChoice } from "./create-request.ts";
import {
  joinPath,
  readChoice,
  type Fields,
  isAbsent,
  readJsonObject,
  readList,
  readObject,
  readOptionalBoolean,
  readOptionalString,
  readString,
} from "./body-fields.ts";
import { createFieldError } from "./request-error.ts";

export function readTools(tools: unknown): readonly RequestTool[] {
  if (isAbsent(tools)) return [];
  const read = readList(tools, "tools", MAX_TOOLS).map((tool, index) =>
    readTool(readObject(tool, `tools[${index}]`), `tools[${index}]`),
  );
  const names = new Set<string>();
  for (const [index, { name }] of read.entries()) {
    if (names.has(name))
      throw createFieldError(`tools[${index}].name`, "is used by two tools", "duplicate_tool");
    names.add(name);
  }
  if (JSON.stringify(read).length > MAX_TOOLS_LENGTH)
    throw createFieldError(
      "tools",
      `has more than ${MAX_TOOLS_LENGTH} characters; send fewer`,
      "too_large",
    );
  return read;
}

function readTool(tool: Fields, path: string): RequestTool {
  if (tool["type"] !== "function")
    throw createFieldError(
      joinPath(path, "type"),
      'has to be "function"; hosted tools are configured with the agent',
      "unsupported_tool",
    );
  return {
    name: readName(tool["name"], joinPath(path, "name")),
    description: readOptionalString(tool, "description", path, MAX_DESCRIPTION_LENGTH),
    parameters: isAbsent(tool["parameters"])
      ? null
      : readJsonObject(tool["parameters"], joinPath(path, "parameters")),
    strict: readOptionalBoolean(tool, "strict", path),
  };
}

/**
 * Reads `tool_choice`. `required` is refused, because an agent cannot be forced to call a tool. A named function
 * restricts the allowed tools.
 */
export function readToolChoice(choice: unknown): RequestToolChoice {
  if (isAbsent(choice)) return "auto";
  if (typeof choice === "string") return readMode(choice, "tool_choice");
  const fields = readObject(choice, "tool_choice");
  if (fields["type"] === "function") return { tool: readChosenName(fields, "tool_choice") };
  if (fields["type"] !== "allowed_tools")
    throw createFieldError("tool_choice.type", "has to be function or allowed_tools");
  const path = "tool_choice.tools";
  const allowed = readList(fields["tools"], path, MAX_TOOLS).map((tool, index) =>
    readChosenName(readObject(tool, `${path}[${index}]`), `${path}[${index}]`),
  );
  if (allowed.length === 0) throw createFieldError(path, "is empty; name at least one tool");
  return { allowed, mode: readMode(fields["mode"] ?? "auto", "tool_choice.mode") };
}

function readMode(value: unknown, path: string): "none" | "auto" {
  const mode = readChoice(value, path, ["none", "auto", "required"]);
  if (mode !== "required") return mode;
  const expected = 'is "required": an agent cannot be forced to call a tool. Fix: use "auto"';
  throw createFieldError(path, expected, "unsupported_tool_choice");
}

function readChosenName(fields: Fields, path: string): string {
  if (fields["type"] !== undefined && fields["type"] !== "function")
    throw createFieldError(joinPath(path, "type"), 'has to be "function"', "unsupported_tool");
  return readName(fields["name"], joinPath(path, "name"));
}

function readName(value: unknown, path: string): string {
  const name = readString(value, path, MAX_NAME_LENGTH);
  if (!isWireName(name))
    throw createFieldError(path, "has to be 1 to 64 letters, digits, underscores and dashes");
  return name;
}

const MAX_TOOLS = 128;
const MAX_NAME_LENGTH = 64;
const MAX_DESCRIPTION_LENGTH = 16_384;
const MAX_TOOLS_LENGTH = 1_048_576;
