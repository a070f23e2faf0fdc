// The public entry `spanline`: the words that every part speaks. A line added here is API.

export type { Diagnostic, DiagnosticCode } from "./domain/diagnostic.ts";
export { SpanlineError, type ErrorCode, type Failure } from "./domain/errors.ts";
export type { JsonObject, JsonValue } from "./domain/json.ts";
export type { Outcome, ProviderEvent, Role, TurnEnd } from "./domain/provider-event.ts";
export {
  toolError,
  toolSuccess,
  type Runner,
  type ToolCall,
  type ToolInputError,
  type ToolResult,
  type ToolResultPart,
} from "./domain/tool.ts";
export { addToTurn, initialTurn, type TurnState } from "./domain/turn-state.ts";
export {
  snapshotTurn,
  turnOf,
  type ServerCall,
  type Turn,
  type TurnBlock,
  type TurnMessage,
} from "./domain/turn.ts";
export type { Usage } from "./domain/usage.ts";
