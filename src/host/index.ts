// The public entry `spanline/host`: the other side of the bridge, and a client for it. No dependencies, no `node:` modules;
// a test holds it to that. A line added here is API.

export { ERROR_CODES, SpanlineError, type ErrorCode, type Failure } from "../domain/errors.ts";
export type { JsonObject, JsonValue } from "../domain/json.ts";
export type { LiveClient, LiveClients } from "../domain/live-client.ts";
export type { KnownShells, Shell, ShellSource } from "../domain/shell.ts";
export { shellAt, type ShellPlace } from "../domain/shell-at.ts";
export type { FileDiff, FileLocation } from "../domain/tool-output.ts";
export type { Executor } from "../domain/tool-traits.ts";

export type { AgentProfile, AuthMethod } from "../wire/acp/client/agent-profile.ts";
export type { Attachment, ClientInfo, SessionPlace } from "../wire/acp/client/agent-requests.ts";
export type {
  OpenedSession,
  PromptResult,
  SessionPage,
  SessionRow,
} from "../wire/acp/client/agent-results.ts";
export type {
  ApprovalShown,
  EvidenceShown,
  PermissionContext,
  PermissionOption,
  PermissionQuestion,
  Rationale,
} from "../wire/acp/client/permission-question.ts";
export type { PermissionReply } from "../wire/acp/client/permission-reply.ts";
export type {
  BridgeFields,
  PlanEntry,
  SeenCommand,
  SeenExtension,
  SeenText,
  SeenTool,
  SeenToolContent,
  SeenTurnEnd,
  SeenUpdate,
  ToolStatus,
} from "../wire/acp/client/seen-update.ts";
export type {
  FileRead,
  FileWrite,
  TerminalExit,
  TerminalName,
  TerminalOutput,
  TerminalStart,
} from "../wire/acp/host/editor-requests.ts";
export type {
  HostSkill,
  HostSkillEntry,
  SkillCandidate,
  SkillMatch,
  SkillMatchRequest,
} from "../wire/acp/host/skills.ts";

export type {
  Client,
  ClientOptions,
  Control,
  ListWanted,
  RequestOptions,
  SessionTold,
} from "./client.ts";
export { createClient } from "./create-client.ts";
export { createHost, type Host } from "./create-host.ts";
export type {
  HostContext,
  HostOptions,
  HostToolContext,
  HostToolDefinition,
} from "./host-options.ts";
export type { KeepAliveRules } from "./keep-alive.ts";
export type { LinkState, ReconnectRules } from "./link.ts";
export { CONNECTION_GONE, TURN_CANCELLED } from "./open-requests.ts";
export { permissionText } from "./permission-text.ts";
export type { PromptRun } from "./prompt-run.ts";
export { lineStreams, type LineStreams } from "./transports/line-streams.ts";
export type { Connect, Incoming, Transport } from "./transports/transport.ts";
export { webSocket, type WebSocketLike, type WebSocketOptions } from "./transports/web-socket.ts";
