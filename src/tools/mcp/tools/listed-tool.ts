import { isObject, type JsonObject } from "../../../data/json.ts";
import type { Executor, ToolTraits } from "../../../domain/tools/tool-traits.ts";
import type { SchemaCheck } from "../../json-schema-check.ts";
import { cleanLine, cleanText } from "../../../text/clean-text.ts";
import { MCP_LIMITS } from "../mcp-limits.ts";
import type { McpServerSettings } from "../mcp-server-settings.ts";
import { toModelName } from "../model-name.ts";
import { readUntrustedSchema, createUntrustedCheck } from "./untrusted-schema.ts";

/** A tool from a server's list, validated and cleaned. */
export interface ListedTool {
  /** The server-side name. */
  readonly name: string;
  /** The name for the model. */
  readonly modelName: string;
  readonly description: string;
  readonly schema: JsonObject;
  /** Checks a structured result. Undefined if the server declares no valid output schema. */
  readonly checkOutput?: SchemaCheck;
  readonly idempotent: boolean;
  readonly traits: ToolTraits;
}

export interface ToolProblem {
  /** The server-side name, cleaned for display. */
  readonly tool: string;
  readonly problem: string;
  /** Whether the check exceeded its time limit, so that the rest of the list should not be read. */
  readonly isSlow?: boolean;
}

export type ListedToolResult =
  | { readonly tool: ListedTool; readonly problem?: ToolProblem }
  | { readonly tool?: undefined; readonly problem: ToolProblem };

/** Validates a list entry. Nothing from the server is trusted, and an unusable tool does not affect the others. */
export function readListedTool(
  entry: { readonly [key: string]: unknown },
  name: string,
  settings: McpServerSettings,
): ListedToolResult {
  const displayName = cleanLine(name, 100);
  const unusable = (problem: string): ListedToolResult => ({
    problem: { tool: displayName, problem },
  });
  const { inputSchema, outputSchema, execution } = entry;
  if (name.length > MCP_LIMITS.nameCharacters) {
    return unusable(`its name is longer than ${MCP_LIMITS.nameCharacters} characters`);
  }
  if (isObject(execution) && execution["taskSupport"] === "required") {
    return unusable("it runs only as a task, which is not supported");
  }
  const input = readUntrustedSchema(addObjectType(inputSchema));
  if (input.schema === undefined) {
    const problem = `its schema cannot be used: ${input.problem}`;
    return {
      problem: { tool: displayName, problem, ...(input.isSlow === true && { isSlow: true }) },
    };
  }
  if (input.schema["type"] !== "object") return unusable("its schema does not describe an object");
  const output = outputSchema === undefined ? undefined : readUntrustedSchema(outputSchema);
  const nameForModel = toModelName(settings.name, name);
  const executor: Executor = {
    type: "mcp",
    server: settings.name,
    // Policy rules refer to the server-side name.
    ...(nameForModel.endsWith(`__${name}`) ? {} : { tool: name }),
  };
  const tool: ListedTool = {
    name,
    modelName: nameForModel,
    description: readDescription(entry, displayName, settings),
    schema: input.schema,
    ...(output?.schema !== undefined && {
      checkOutput: createUntrustedCheck(output.schema, "the result"),
    }),
    ...readAnnotations(entry["annotations"], settings, executor),
  };
  if (output?.problem === undefined) return { tool };
  const problem = `its results are not checked: its output schema cannot be used: ${output.problem}`;
  return {
    tool,
    problem: { tool: displayName, problem, ...(output.isSlow === true && { isSlow: true }) },
  };
}

/** Servers often omit the type for tools without arguments. */
function addObjectType(schema: unknown): unknown {
  return isObject(schema) && schema["type"] === undefined ? { ...schema, type: "object" } : schema;
}

/** The description, or else the title, or else a generated sentence. */
function readDescription(
  { description, title }: { readonly [key: string]: unknown },
  displayName: string,
  settings: McpServerSettings,
): string {
  for (const candidate of [description, title]) {
    const text =
      typeof candidate === "string" ? cleanText(candidate, MCP_LIMITS.descriptionCharacters) : "";
    if (text !== "") return text;
  }
  return `${displayName} of the MCP server ${settings.name}`;
}

/** A server's annotations are hints, believed only if the user marked the server as trusted. */
function readAnnotations(
  annotations: unknown,
  { trusted = false }: McpServerSettings,
  executor: Executor,
): Pick<ListedTool, "idempotent" | "traits"> {
  const hints = trusted && isObject(annotations) ? annotations : {};
  const isReadOnly = hints["readOnlyHint"] === true;
  const idempotent = isReadOnly || hints["idempotentHint"] === true;
  if (!isReadOnly) {
    return { idempotent, traits: { kind: "other", sideEffect: "network", executor } };
  }
  return hints["openWorldHint"] === true
    ? { idempotent, traits: { kind: "fetch", sideEffect: "network", executor } }
    : { idempotent, traits: { kind: "read", sideEffect: "read_only", executor } };
}
