// The public entry `spanline/host/testing`: an in-process runtime that follows a test's script. Every export is public
// API.

export {
  createScriptedRuntime,
  type ScriptedRuntimeOptions,
  type ScriptedRuntime,
  type ScriptedTurn,
} from "./scripted-runtime.ts";
export type { ScriptedPermission } from "../wire/acp/client/scripted-messages.ts";
