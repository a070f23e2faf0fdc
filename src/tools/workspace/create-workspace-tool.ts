import type { JsonObject } from "../../data/json.ts";
import type { ToolOutput } from "../../domain/tools/tool-output.ts";
import type { ToolTraits } from "../../domain/tools/tool-traits.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import { defineTool } from "../define-tool.ts";
import type { Tool, ToolContext } from "../tool.ts";
import { createEditorFiles, type EditorFiles } from "./editor/editor-files.ts";
import type { EditorGate } from "./editor/editor-gate.ts";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "./workspace.ts";

/** Shared by all workspace tools. */
export interface WorkspaceToolContext {
  readonly clock: SteadyClock;
  /** Keeps editor accesses and commands apart. */
  readonly gate: EditorGate;
  /** Returns the workspace options of a session. */
  resolveOptions(context: Pick<ToolContext, "workingDirectory" | "folders">): WorkspaceOptions;
}

/** A workspace tool. `properties` and `required` are the JSON Schema of its arguments. Default of `timeoutMs`: 60 s. */
export interface WorkspaceToolDefinition {
  readonly name: string;
  readonly description: string;
  readonly properties: JsonObject;
  readonly required: readonly string[];
  readonly traits: Omit<ToolTraits, "executor">;
  readonly idempotent: boolean;
  readonly timeoutMs?: number;
  run(call: WorkspaceToolCall): Promise<ToolOutput>;
}

/** A call of a workspace tool, with the session's workspace as it is on the disk at this moment. */
export interface WorkspaceToolCall {
  readonly input: JsonObject;
  readonly workspace: Workspace;
  readonly context: ToolContext;
  readonly clock: SteadyClock;
  readonly editor: EditorFiles;
}

export function createWorkspaceTool(
  definition: WorkspaceToolDefinition,
  toolContext: WorkspaceToolContext,
): Tool {
  const { name, description, properties, required, idempotent, timeoutMs = 60_000 } = definition;
  const tool = defineTool({
    name,
    description,
    input: { type: "object", properties, required, additionalProperties: false },
    idempotent,
    timeoutMs,
    async run(input: JsonObject, context) {
      const workspace = await openWorkspace(toolContext.resolveOptions(context));
      const editor = createEditorFiles(context, toolContext.gate);
      return definition.run({ input, workspace, context, clock: toolContext.clock, editor });
    },
  });
  const traits: ToolTraits = { ...definition.traits, executor: { type: "builtin" } };
  return { ...tool, spec: { ...tool.spec, traits } };
}
