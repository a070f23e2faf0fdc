import type { ClientRole } from "../../../domain/events/client-events.ts";
import type { JsonObject, JsonValue } from "../../../data/json.ts";
import type { BudgetCaps } from "../../../domain/budget.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import { encodeMcpServer, type McpServer } from "./mcp-server.ts";
import type { PromptBlock } from "./prompt-block.ts";

/** A request or notification from a client to an agent. */
export interface AgentRequest {
  readonly method: string;
  readonly params: JsonObject;
}

/** The supported ACP protocol version. */
const PROTOCOL_VERSION = 1;

export interface ClientInfo {
  readonly name: string;
  readonly title?: string;
  readonly version: string;
}

export function encodeInitializeRequest(
  clientInfo: ClientInfo,
  clientCapabilities: JsonObject,
): AgentRequest {
  const info = { ...clientInfo };
  const params = { protocolVersion: PROTOCOL_VERSION, clientInfo: info, clientCapabilities };
  return { method: "initialize", params };
}

export function encodeAuthenticateRequest(methodId: string): AgentRequest {
  return { method: "authenticate", params: { methodId } };
}

/** The folders of a session, with its MCP servers and its agent. */
export interface SessionLocation {
  /** An absolute path. */
  readonly workingDirectory: string;
  /** Additional workspace folders, as absolute paths. Ignored by agents without support for them. Default: none. */
  readonly folders?: readonly string[];
  /** MCP servers for the session. Default: none. */
  readonly servers?: readonly McpServer[];
  /** The agent of a new session, if the bridge has several. Default: the bridge's first agent. */
  readonly agent?: string;
}

export function encodeNewSessionRequest(location: SessionLocation): AgentRequest {
  const { agent } = location;
  const meta = agent === undefined ? {} : { _meta: { harn: { agent } } };
  return { method: "session/new", params: { ...encodeLocation(location), ...meta } };
}

/**
 * Encodes a request that opens an existing session. `cursor` is the cursor of the last received update; omit it if the
 * agent does not send cursors.
 */
export function encodeExistingSessionRequest(
  method: "load" | "resume" | "fork",
  sessionId: string,
  { cursor, ...location }: SessionLocation & { readonly cursor?: string },
): AgentRequest {
  const meta = cursor === undefined ? {} : { _meta: { harn: { cursor } } };
  return {
    method: `session/${method}`,
    params: { sessionId, ...encodeLocation(location), ...meta },
  };
}

function encodeLocation({
  workingDirectory,
  folders = [],
  servers = [],
}: SessionLocation): JsonObject {
  return {
    cwd: workingDirectory,
    ...(folders.length > 0 && { additionalDirectories: folders }),
    mcpServers: servers.map(encodeMcpServer),
  };
}

export function encodeListRequest(query: {
  readonly workingDirectory?: string;
  readonly page?: string;
}): AgentRequest {
  const { workingDirectory: cwd, page: cursor } = query;
  return { method: "session/list", params: { ...omitUndefined({ cwd, cursor }) } };
}

export function encodeSessionRequest(
  operation: "close" | "delete",
  sessionId: string,
): AgentRequest {
  return { method: `session/${operation}`, params: { sessionId } };
}

/** Encodes a prompt. Agents with `repeatsPrompts` run a prompt once per `promptId`, however often it is sent. */
export function encodePromptRequest(
  sessionId: string,
  blocks: readonly PromptBlock[],
  { promptId, budget }: { readonly promptId?: string; readonly budget?: BudgetCaps } = {},
): AgentRequest {
  const harn = omitUndefined({ promptId, budget });
  const meta = Object.keys(harn).length === 0 ? {} : { _meta: { harn } };
  return { method: "session/prompt", params: { sessionId, prompt: blocks, ...meta } };
}

export function encodeModeRequest(sessionId: string, modeId: string): AgentRequest {
  return { method: "session/set_mode", params: { sessionId, modeId } };
}

export function encodeOptionRequest(
  sessionId: string,
  { option, value }: { readonly option: string; readonly value: JsonValue },
): AgentRequest {
  return { method: "session/set_config_option", params: { sessionId, configId: option, value } };
}

/** How a client attaches to a session. */
export interface Attachment {
  readonly clientId: string;
  readonly mode: ClientRole;
  /** Takes control from the current controller. Default: false. */
  readonly takeOver?: boolean;
  /** Binds the client id: a later attach under the same id needs the same secret. Never sent to other clients. */
  readonly secret?: string;
  readonly mayPrompt?: boolean;
  readonly mayApprove?: boolean;
  /** The client's description of itself, visible to other clients. */
  readonly metadata?: JsonObject;
}

/** An attachment, with the cursor of the last received update. */
type AttachParams = Attachment & { readonly cursor?: string | undefined };

export function encodeAttachRequest(sessionId: string, attachment: AttachParams): AgentRequest {
  const { mode, takeOver = false } = attachment;
  const params = { sessionId, mode, takeover: takeOver, ...encodeAttachment(attachment) };
  return { method: "session/attach", params };
}

export function encodeTakeoverRequest(sessionId: string, attachment: AttachParams): AgentRequest {
  return { method: "session/takeover", params: { sessionId, ...encodeAttachment(attachment) } };
}

function encodeAttachment(attachment: AttachParams): JsonObject {
  const { clientId, mayPrompt, mayApprove } = attachment;
  const may = omitUndefined({ promptInjection: mayPrompt, permissionRouting: mayApprove });
  return { clientId, ...may, ...encodeAttachmentMeta(attachment) };
}

export function encodeHeartbeatRequest(
  sessionId: string,
  client: Pick<Attachment, "clientId" | "metadata">,
): AgentRequest {
  const { clientId } = client;
  return {
    method: "session/heartbeat",
    params: { sessionId, clientId, ...encodeAttachmentMeta(client) },
  };
}

export function encodeDetachRequest(
  sessionId: string,
  { clientId, reason }: { readonly clientId: string; readonly reason?: string },
): AgentRequest {
  return {
    method: "session/detach",
    params: { sessionId, clientId, ...omitUndefined({ reason }) },
  };
}

export function encodeLiveClientsRequest(sessionId: string): AgentRequest {
  return { method: "session/live_clients", params: { sessionId } };
}

function encodeAttachmentMeta({
  metadata,
  secret,
  cursor,
}: Pick<AttachParams, "metadata" | "secret" | "cursor">): JsonObject {
  if (metadata === undefined && secret === undefined && cursor === undefined) return {};
  return {
    _meta: { harn: { ...metadata, ...omitUndefined({ attachSecret: secret, cursor }) } },
  };
}

/** Encodes the cancellation of a session's current turn. The prompt still gets a response. */
export function encodeCancelNotification(sessionId: string): AgentRequest {
  return { method: "session/cancel", params: { sessionId } };
}

export function encodeCancelRequestNotification(requestId: string): AgentRequest {
  return { method: "$/cancel_request", params: { requestId } };
}

/**
 * Encodes a liveness check. An agent that does not know the method answers with an error, which also proves a working
 * connection.
 */
export function encodePingRequest(): AgentRequest {
  return { method: "_harn/ping", params: {} };
}

export function encodeSkillsUpdateNotification(): AgentRequest {
  return { method: "skills/update", params: {} };
}
