import type { RuntimeToolName } from "../../domain/runtime-tools.ts";
import type { Tool } from "../tool.ts";
import { createEmitArtifactTool } from "./emit-artifact-tool.ts";
import { createEmitHandoffTool } from "./emit-handoff-tool.ts";

const CREATE_TOOL: { readonly [Name in RuntimeToolName]: () => Tool } = {
  emit_artifact: createEmitArtifactTool,
  emit_handoff: createEmitHandoffTool,
};

export function createRuntimeTools(names: readonly RuntimeToolName[]): Tool[] {
  return names.map((name) => CREATE_TOOL[name]());
}
