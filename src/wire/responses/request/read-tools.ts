import { isWireName } from "../tool-name.ts";
import type { RequestTool, RequestToolChoice } from "./create-request.ts";
import {
  at,
  choiceAt,
  type Fields,
  isAbsent,
  jsonObjectAt,
  listAt,
  objectAt,
  optionalFlag,
  optionalText,
  textAt,
} from "./fields.ts";
import { wrongField } from "./refusal.ts";

export function readTools(tools: unknown): readonly RequestTool[] {
  if (isAbsent(tools)) return [];
  const read = listAt(tools, "tools", MOST_TOOLS).map((tool, index) =>
    readTool(objectAt(tool, `tools[${index}]`), `tools[${index}]`),
  );
  const names = new Set<string>();
  for (const [index, { name }] of read.entries()) {
    if (names.has(name))
      throw wrongField(`tools[${index}].name`, "is the name of two tools", "duplicate_tool");
    names.add(name);
  }
  if (JSON.stringify(read).length > LARGEST_TOOLS)
    throw wrongField("tools", `has more than ${LARGEST_TOOLS} characters; send fewer`, "too_large");
  return read;
}

function readTool(tool: Fields, path: string): RequestTool {
  if (tool["type"] !== "function")
    throw wrongField(
      at(path, "type"),
      'has to be "function"; tools that run elsewhere belong to the agent',
      "unsupported_tool",
    );
  return {
    name: nameAt(tool["name"], at(path, "name")),
    description: optionalText(tool, "description", path, LONGEST_DESCRIPTION),
    parameters: isAbsent(tool["parameters"])
      ? null
      : jsonObjectAt(tool["parameters"], at(path, "parameters")),
    strict: optionalFlag(tool, "strict", path),
  };
}

/** What cannot be made to hold is refused: an agent cannot be made to call a tool. A function that is named is a limit. */
export function readToolChoice(choice: unknown): RequestToolChoice {
  if (isAbsent(choice)) return "auto";
  if (typeof choice === "string") return modeAt(choice, "tool_choice");
  const fields = objectAt(choice, "tool_choice");
  if (fields["type"] === "function") return { tool: chosenName(fields, "tool_choice") };
  if (fields["type"] !== "allowed_tools")
    throw wrongField("tool_choice.type", "has to be function or allowed_tools");
  const path = "tool_choice.tools";
  const allowed = listAt(fields["tools"], path, MOST_TOOLS).map((tool, index) =>
    chosenName(objectAt(tool, `${path}[${index}]`), `${path}[${index}]`),
  );
  if (allowed.length === 0) throw wrongField(path, "is empty; name at least one tool");
  return { allowed, mode: modeAt(fields["mode"] ?? "auto", "tool_choice.mode") };
}

function modeAt(value: unknown, path: string): "none" | "auto" {
  const mode = choiceAt(value, path, ["none", "auto", "required"]);
  if (mode !== "required") return mode;
  const wanted = 'is "required", and an agent cannot be made to call a tool; use "auto"';
  throw wrongField(path, wanted, "unsupported_tool_choice");
}

function chosenName(fields: Fields, path: string): string {
  if (fields["type"] !== undefined && fields["type"] !== "function")
    throw wrongField(at(path, "type"), 'has to be "function"', "unsupported_tool");
  return nameAt(fields["name"], at(path, "name"));
}

function nameAt(value: unknown, path: string): string {
  const name = textAt(value, path, LONGEST_NAME);
  if (!isWireName(name))
    throw wrongField(path, "has to be 1 to 64 letters, digits, underscores and dashes");
  return name;
}

const MOST_TOOLS = 128;
const LONGEST_NAME = 64;
const LONGEST_DESCRIPTION = 16_384;
const LARGEST_TOOLS = 1_048_576;
