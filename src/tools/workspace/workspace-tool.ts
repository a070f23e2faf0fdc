import type { JsonObject } from "../../domain/json.ts";
import type { ToolOutput } from "../../domain/tool-output.ts";
import type { ToolTraits } from "../../domain/tool-traits.ts";
import type { SteadyClock } from "../../platform/clock.ts";
import { defineTool } from "../define-tool.ts";
import type { Tool, ToolContext } from "../tool.ts";
import { editorFiles, type EditorFiles } from "./editor/editor-files.ts";
import type { EditorGate } from "./editor/editor-gate.ts";
import { openWorkspace, type Workspace, type WorkspacePlace } from "./workspace.ts";

/** What every tool of a workspace is made with. */
export interface ToolGround {
  readonly clock: SteadyClock;
  /** Between editors and the commands of these tools. */
  readonly gate: EditorGate;
  /** The workspace of a session. */
  placeFor(context: Pick<ToolContext, "workingDirectory" | "folders">): WorkspacePlace;
}

export interface WorkspaceToolParts {
  readonly name: string;
  readonly description: string;
  readonly properties: JsonObject;
  readonly required: readonly string[];
  readonly traits: Omit<ToolTraits, "executor">;
  readonly idempotent: boolean;
  readonly timeoutMs?: number;
  run(call: WorkspaceCall): Promise<ToolOutput>;
}

export interface WorkspaceCall {
  readonly input: JsonObject;
  readonly workspace: Workspace;
  readonly context: ToolContext;
  readonly clock: SteadyClock;
  readonly editor: EditorFiles;
}

export function workspaceTool(parts: WorkspaceToolParts, ground: ToolGround): Tool {
  const { name, description, properties, required, idempotent, timeoutMs = 60_000 } = parts;
  const tool = defineTool({
    name,
    description,
    input: { type: "object", properties, required, additionalProperties: false },
    idempotent,
    timeoutMs,
    async run(input: JsonObject, context) {
      const workspace = await openWorkspace(ground.placeFor(context));
      const editor = editorFiles(context, ground.gate);
      return parts.run({ input, workspace, context, clock: ground.clock, editor });
    },
  });
  const traits: ToolTraits = { ...parts.traits, executor: { type: "builtin" } };
  return { ...tool, facts: { ...tool.facts, traits } };
}
