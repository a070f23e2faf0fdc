// The public entry `spanline`: the words that every part speaks, and agents that are run with tools of one's own. A line
// added here is API.

export type { AgentDefinition, WorkspaceDefinition } from "./bridge/agent-definition.ts";
export { defineAgent } from "./bridge/define-agent.ts";
export { definePolicy } from "./bridge/define-policy.ts";
export type { TurnUsage, TurnGuard } from "./bridge/guarded-provider.ts";
export type { RunDecision, RunOptions } from "./bridge/run-options.ts";
export type { RunToolCall, RunResult } from "./bridge/run-result.ts";
export { runToCompletion } from "./bridge/run-to-completion.ts";
export type { Actor } from "./domain/actor.ts";
export type {
  SessionEvent,
  ApprovalRules,
  ApprovalRequested,
  ApprovalDecision,
  LostInvocationPolicy,
  QuiescePolicy,
  ToolEnding,
  ToolSpec,
  TurnCaps,
  TurnOutcome,
} from "./domain/agent-event.ts";
export type { Diagnostic, DiagnosticCode } from "./domain/diagnostic.ts";
export type { Envelope } from "./domain/envelope.ts";
export { SpanlineError, type ErrorCode, type Failure } from "./domain/errors.ts";
export type { JsonObject, JsonValue } from "./domain/json.ts";
export type { PathFact, PolicyAction, PolicyDecision } from "./domain/policy-decision.ts";
export type { Policy } from "./domain/policy.ts";
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
export { createToolOutput, type ToolOutput } from "./domain/tool-output.ts";
export type { Executor, SideEffect, ToolKind, ToolTraits } from "./domain/tool-traits.ts";
export { addToTurn, createTurnBuilder, type TurnBuilder } from "./domain/turn-state.ts";
export {
  snapshotTurn,
  buildTurn,
  type ServerToolCall,
  type Turn,
  type TurnBlock,
  type TurnMessage,
} from "./domain/turn.ts";
export type { Usage } from "./domain/usage.ts";
export type { SteadyClock } from "./platform/clock.ts";
export type { Agent } from "./session/agent.ts";
export { defineTool, type ToolDefinition } from "./tools/define-tool.ts";
export { findSandbox } from "./tools/workspace/sandbox/find-sandbox.ts";
export { workspaceTools } from "./tools/workspace/workspace-tools.ts";
export type { SpawnOptions, SpawnedProcess, Tool, ToolContext } from "./tools/tool.ts";
