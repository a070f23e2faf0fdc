// The public entry `spanline`: the shared types, and the functions for defining and running agents with your own tools.
// Every export here is public API.

export type { AgentDefinition, WorkspaceDefinition } from "./config/agent/agent-definition.ts";
export { defineAgent } from "./bridge/agent/define-agent.ts";
export { definePolicy } from "./bridge/agent/define-policy.ts";
export type { TurnUsage, TurnGuard } from "./bridge/run/guarded-provider.ts";
export type { RunDecision, RunOptions } from "./bridge/run/run-options.ts";
export type { RunToolCall, RunResult } from "./bridge/run/run-result.ts";
export { runToCompletion } from "./bridge/run/run-to-completion.ts";
export type { Actor } from "./domain/actor.ts";
export type {
  ApprovalRules,
  LostInvocationPolicy,
  QuiescePolicy,
  ToolSpec,
  TurnCaps,
} from "./domain/agent-spec.ts";
export type { ApprovalRequested } from "./domain/events/approval-events.ts";
export type { SessionEvent } from "./domain/events/session-event.ts";
export type { ToolEnding } from "./domain/events/tool-events.ts";
export type { TurnOutcome } from "./domain/events/turn-events.ts";
export type { ApprovalDecision } from "./domain/policy/approval-decision.ts";
export type { Diagnostic, DiagnosticCode } from "./domain/diagnostic.ts";
export type { Envelope } from "./domain/events/envelope.ts";
export { SpanlineError, type ErrorCode, type Failure } from "./domain/errors.ts";
export type { JsonObject, JsonValue } from "./data/json.ts";
export type { PathFact, PolicyAction, PolicyDecision } from "./domain/policy/policy-decision.ts";
export type { Policy } from "./domain/policy/policy.ts";
export type { Outcome, ProviderEvent, Role, TurnEnd } from "./domain/provider/provider-event.ts";
export {
  createToolError,
  createToolSuccess,
  type Runner,
  type ToolCall,
  type ToolInputError,
  type ToolResult,
  type ToolResultPart,
} from "./domain/tools/tool-call.ts";
export { createToolOutput, type ToolOutput } from "./domain/tools/tool-output.ts";
export type { Executor, SideEffect, ToolKind, ToolTraits } from "./domain/tools/tool-traits.ts";
export { addToTurn, createTurnBuilder, type TurnBuilder } from "./domain/provider/turn-builder.ts";
export {
  snapshotTurn,
  buildTurn,
  type ServerToolCall,
  type Turn,
  type TurnBlock,
  type TurnMessage,
} from "./domain/provider/turn.ts";
export type { Usage } from "./domain/usage.ts";
export type { SteadyClock } from "./platform/clock.ts";
export type { Agent } from "./session/runtime/agent/agent.ts";
export { defineTool, type ToolDefinition } from "./tools/define-tool.ts";
export { findSandbox } from "./tools/workspace/sandbox/find-sandbox.ts";
export { workspaceTools } from "./tools/workspace/workspace-tools.ts";
export type { SpawnOptions, SpawnedProcess, Tool, ToolContext } from "./tools/tool.ts";
