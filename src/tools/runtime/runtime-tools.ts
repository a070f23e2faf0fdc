import type { RuntimeToolName } from "../../domain/tools/runtime-tools.ts";
import type { Tool } from "../tool.ts";
import { createAgentProgressTool } from "./agent-progress-tool.ts";
import { createEmitArtifactTool } from "./emit-artifact-tool.ts";
import { createEmitHandoffTool } from "./emit-handoff-tool.ts";
import { createEmitPlanTool, createUpdatePlanTool } from "./plan-tools.ts";
import { createWatchFilesTool } from "./watch-files-tool.ts";

const CREATE_TOOL: { readonly [Name in RuntimeToolName]: () => Tool } = {
  watch_files: createWatchFilesTool,
  emit_plan: createEmitPlanTool,
  update_plan: createUpdatePlanTool,
  agent_progress: createAgentProgressTool,
  emit_artifact: createEmitArtifactTool,
  emit_handoff: createEmitHandoffTool,
};

export function createRuntimeTools(names: readonly RuntimeToolName[]): Tool[] {
  return names.map((name) => CREATE_TOOL[name]());
}
