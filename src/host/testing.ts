// The public entry `spanline/host/testing`: a runtime in this process that says what a test wants. A line added here is API.

export {
  createScriptedRuntime,
  type ScriptedRuntimeOptions,
  type ScriptedRuntime,
  type ScriptedTurn,
} from "./scripted-runtime.ts";
export type { ScriptedPermission } from "../wire/acp/client/scripted-messages.ts";
