import type { JsonObject } from "../../data/json.ts";
import { defineTool } from "../define-tool.ts";
import type { Tool, ToolContext } from "../tool.ts";

interface RuntimeToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly schema: JsonObject;
  /** Checks arguments which fit the schema. Returns the problem for the model; undefined for valid arguments. */
  readonly findProblem?: (input: JsonObject) => string | undefined;
  readonly run: (input: JsonObject, context: ToolContext) => unknown;
}

/** Creates a tool whose effects are events of its session. The bridge may run such a tool again after a crash. */
export function createRuntimeTool({
  name,
  description,
  schema,
  findProblem,
  run,
}: RuntimeToolDefinition): Tool {
  const tool = defineTool({
    name,
    description,
    input: schema,
    idempotent: true,
    timeoutMs: 10_000,
    run,
  });
  const traits = { kind: "think", sideEffect: "none", executor: { type: "builtin" } } as const;
  return {
    ...tool,
    spec: { ...tool.spec, traits },
    check: (input) => tool.check(input) ?? findProblem?.(input),
  };
}
