// The public entry `spanline/host`: a client for ACP agents and bridges, and a host with features for agents. No
// dependencies and no `node:` modules; a test checks this. Every export is public API.

export type { BudgetCaps } from "../domain/budget.ts";
export type { ToolCallStatus } from "../domain/session-command.ts";
export type { ClientRole } from "../domain/events/client-events.ts";
export { ERROR_CODES, SpanlineError, type ErrorCode, type Failure } from "../domain/errors.ts";
export type { JsonObject, JsonValue } from "../data/json.ts";
export type { LiveClient, ClientStatus } from "../domain/live-client.ts";
export type { ShellList, Shell, ShellSource } from "../domain/tools/shell.ts";
export { createShell, type ShellLocation } from "../domain/tools/create-shell.ts";
export type { FileDiff, FileLocation } from "../domain/tools/tool-output.ts";
export type { Executor } from "../domain/tools/tool-traits.ts";

export type { AgentProfile, AuthMethod } from "../wire/acp/client/agent-profile.ts";
export type { Attachment, ClientInfo, SessionLocation } from "../wire/acp/client/agent-requests.ts";
export type {
  OpenedSession,
  PromptResult,
  PromptUsage,
  SessionPage,
  SessionRow,
  SessionRowState,
} from "../wire/acp/client/agent-results.ts";
export type { McpAddress, McpProgram, McpServer } from "../wire/acp/client/mcp-server.ts";
export type {
  ApprovalDetails,
  EvidenceDetails,
  PermissionContext,
  PermissionOption,
  PermissionRequest,
  Rationale,
  TruncatedArguments,
} from "../wire/acp/client/read-permission-request.ts";
export type { PermissionReply } from "../wire/acp/client/permission-reply.ts";
export type {
  QuestionChoice,
  QuestionField,
  QuestionReply,
  QuestionRequest,
} from "../wire/acp/client/question-messages.ts";
export type { PromptBlock } from "../wire/acp/client/prompt-block.ts";
export type {
  BridgeFields,
  PlanEntry,
  AvailableCommand,
  CommandsUpdate,
  ExtensionUpdate,
  InfoUpdate,
  ModeUpdate,
  OptionsUpdate,
  PlanUpdate,
  TextUpdate,
  ToolUpdate,
  ToolUpdateContent,
  TurnEndInfo,
  SessionUpdate,
  UsageUpdate,
  WorkerUpdate,
  ToolStatus,
} from "../wire/acp/client/session-update.ts";
export type {
  AvailableMode,
  ConfigChoice,
  ConfigOption,
  SessionModes,
} from "../wire/acp/client/session-settings.ts";
export type {
  FileRead,
  FileWrite,
  TerminalExit,
  TerminalReference,
  TerminalOutput,
  TerminalStart,
} from "../wire/acp/host/decode-editor-requests.ts";
export type {
  HostSkill,
  HostSkillEntry,
  SkillCandidate,
  SkillMatch,
  SkillMatchRequest,
} from "../wire/acp/host/skill-messages.ts";

export type {
  CompactOptions,
  InjectedMessage,
  WatchedFiles,
  ReminderOptions,
} from "../wire/acp/client/steering-requests.ts";
export type {
  IdleWait,
  InjectResult,
  PendingInjection,
} from "../wire/acp/client/steering-results.ts";

export type { WorkerRow, WorkerState, WorkerTask } from "../wire/acp/client/worker-messages.ts";

export type { RpcError } from "../wire/jsonrpc/rpc-error.ts";
export type { RequestId, RpcOutcome, RpcRequest } from "../wire/jsonrpc/rpc-message.ts";

export type { RecordLimits } from "./methods/tool-call-records.ts";
export type {
  Client,
  ClientOptions,
  PromptSettings,
  ClientControl,
  ListSessionsQuery,
  RequestOptions,
  SessionNotification,
} from "./client/client.ts";
export type { RequestContext } from "./connection/agent-connection.ts";
export { createClient } from "./client/create-client.ts";
export { createHost, type Host } from "./methods/create-host.ts";
export type {
  Awaitable,
  HostContext,
  HostOptions,
  HostToolContext,
  HostToolDefinition,
} from "./methods/host-options.ts";
export type { KeepAliveRules } from "./connection/keep-alive.ts";
export type { ConnectionState, ReconnectRules } from "./connection/reconnecting-connection.ts";
export { CONNECTION_GONE, TURN_CANCELLED } from "./connection/open-requests.ts";
export { formatPermissionRequest } from "./methods/format-permission-request.ts";
export type { PromptRun } from "./client/prompt-run.ts";
export type { Report } from "./connection/host-report.ts";
export {
  createLineTransport,
  type LineStreams,
  type ReadableInput,
  type WritableOutput,
} from "./transports/line-transport.ts";
export type { Connect, Incoming, Transport } from "./transports/transport.ts";
export {
  connectWebSocket,
  type WebSocketLike,
  type WebSocketOptions,
} from "./transports/web-socket-transport.ts";
