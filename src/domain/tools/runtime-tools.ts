import { WATCH_FILES_TOOL } from "../outputs/file-watch.ts";
import { EMIT_ARTIFACT_TOOL } from "../outputs/artifact.ts";
import { EMIT_HANDOFF_TOOL } from "../outputs/handoff.ts";
import { EMIT_PLAN_TOOL, UPDATE_PLAN_TOOL } from "../outputs/harn-plan.ts";
import { AGENT_PROGRESS_TOOL } from "../outputs/progress-report.ts";

/**
 * Names of the runtime's own tools, which an agent can have (`runtimeTools`). A runtime tool changes nothing outside of
 * the session, so approval lists allow the tool by default.
 */
export const RUNTIME_TOOLS = [
  EMIT_PLAN_TOOL,
  UPDATE_PLAN_TOOL,
  AGENT_PROGRESS_TOOL,
  EMIT_ARTIFACT_TOOL,
  EMIT_HANDOFF_TOOL,
  WATCH_FILES_TOOL,
] as const;

export type RuntimeToolName = (typeof RUNTIME_TOOLS)[number];

/** The setting of an agent: all runtime tools, or only the named tools. */
export type RuntimeToolsSetting = boolean | readonly RuntimeToolName[];

export function listRuntimeTools(setting: RuntimeToolsSetting = false): readonly RuntimeToolName[] {
  if (setting === false) return [];
  return setting === true ? RUNTIME_TOOLS : setting;
}
