import { isObject, type JsonObject } from "../../domain/json.ts";
import type { Executor, ToolTraits } from "../../domain/tool-traits.ts";
import type { SchemaCheck } from "../json-schema-check.ts";
import { cleanLine, cleanText } from "./clean-text.ts";
import { MCP_LIMITS } from "./limits.ts";
import type { McpServerSettings } from "./mcp-server-settings.ts";
import { modelName } from "./model-name.ts";
import { readSchema, untrustedCheck } from "./untrusted-schema.ts";

/** A tool as its server lists it, made fit to be offered. */
export interface ListedTool {
  /** As the server knows it. */
  readonly name: string;
  /** As the model knows it. */
  readonly modelName: string;
  readonly description: string;
  readonly schema: JsonObject;
  /** Says what is wrong with a result; absent where the server does not say how they are. */
  readonly checkOutput?: SchemaCheck;
  readonly idempotent: boolean;
  readonly traits: ToolTraits;
}

export interface ToolProblem {
  /** As the server knows it, as far as that can be shown. */
  readonly tool: string;
  readonly problem: string;
  /** It took so long to find out that no more of the list should be read. */
  readonly isSlow?: boolean;
}

export type ReadTool =
  | { readonly tool: ListedTool; readonly problem?: ToolProblem }
  | { readonly tool?: undefined; readonly problem: ToolProblem };

/** Nothing that a server says of its tool is taken for granted; one tool that cannot be used costs no other. */
export function readListedTool(
  given: { readonly [key: string]: unknown },
  name: string,
  settings: McpServerSettings,
): ReadTool {
  const shown = cleanLine(name, 100);
  const unusable = (problem: string): ReadTool => ({ problem: { tool: shown, problem } });
  const { inputSchema, outputSchema, execution } = given;
  if (name.length > MCP_LIMITS.nameCharacters) {
    return unusable(`its name is longer than ${MCP_LIMITS.nameCharacters} characters`);
  }
  if (isObject(execution) && execution["taskSupport"] === "required") {
    return unusable("it runs only as a task, which Spanline does not do");
  }
  const input = readSchema(withType(inputSchema));
  if (input.schema === undefined) {
    const problem = `its schema cannot be used: ${input.problem}`;
    return { problem: { tool: shown, problem, ...(input.isSlow === true && { isSlow: true }) } };
  }
  if (input.schema["type"] !== "object") return unusable("its schema is not of an object");
  const output = outputSchema === undefined ? undefined : readSchema(outputSchema);
  const known = modelName(settings.name, name);
  const executor: Executor = {
    type: "mcp",
    server: settings.name,
    // Rules are written with the server's own name.
    ...(known.endsWith(`__${name}`) ? {} : { tool: name }),
  };
  const tool: ListedTool = {
    name,
    modelName: known,
    description: descriptionOf(given, shown, settings),
    schema: input.schema,
    ...(output?.schema !== undefined && {
      checkOutput: untrustedCheck(output.schema, "what it gave back"),
    }),
    ...believed(given["annotations"], settings, executor),
  };
  if (output?.problem === undefined) return { tool };
  const problem = `its results are not checked: its output schema cannot be used: ${output.problem}`;
  return {
    tool,
    problem: { tool: shown, problem, ...(output.isSlow === true && { isSlow: true }) },
  };
}

/** Servers leave the type out where a tool has no arguments. */
function withType(schema: unknown): unknown {
  return isObject(schema) && schema["type"] === undefined ? { ...schema, type: "object" } : schema;
}

function descriptionOf(
  { description, title }: { readonly [key: string]: unknown },
  shown: string,
  settings: McpServerSettings,
): string {
  for (const said of [description, title]) {
    const text = typeof said === "string" ? cleanText(said, MCP_LIMITS.descriptionCharacters) : "";
    if (text !== "") return text;
  }
  return `${shown} of the MCP server ${settings.name}`;
}

/** What a server says of its own tools is a hint, and believed only of one that the user trusts. */
function believed(
  annotations: unknown,
  { trusted = false }: McpServerSettings,
  executor: Executor,
): Pick<ListedTool, "idempotent" | "traits"> {
  const hints = trusted && isObject(annotations) ? annotations : {};
  const onlyReads = hints["readOnlyHint"] === true;
  const idempotent = onlyReads || hints["idempotentHint"] === true;
  if (!onlyReads) {
    return { idempotent, traits: { kind: "other", sideEffect: "network", executor } };
  }
  return hints["openWorldHint"] === true
    ? { idempotent, traits: { kind: "fetch", sideEffect: "network", executor } }
    : { idempotent, traits: { kind: "read", sideEffect: "read_only", executor } };
}
