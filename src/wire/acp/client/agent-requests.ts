import type { ClientMode } from "../../../domain/agent-event.ts";
import type { JsonObject, JsonValue } from "../../../domain/json.ts";
import { present } from "../fields.ts";
import { mcpServerFields, type McpServer } from "./mcp-server.ts";
import type { PromptBlock } from "./prompt-block.ts";

/** Something that a client asks of an agent. */
export interface AgentRequest {
  readonly method: string;
  readonly params: JsonObject;
}

/** The wire version that we speak. */
const PROTOCOL_VERSION = 1;

export interface ClientInfo {
  readonly name: string;
  readonly title?: string;
  readonly version: string;
}

export function initializeRequest(
  clientInfo: ClientInfo,
  clientCapabilities: JsonObject,
): AgentRequest {
  const info = { ...clientInfo };
  const params = { protocolVersion: PROTOCOL_VERSION, clientInfo: info, clientCapabilities };
  return { method: "initialize", params };
}

export function authenticateRequest(methodId: string): AgentRequest {
  return { method: "authenticate", params: { methodId } };
}

/** Where a session works, and what else it is given. */
export interface SessionPlace {
  /** An absolute path. */
  readonly workingDirectory: string;
  /** Absolute paths that it works in beside that one, where the agent takes such. */
  readonly folders?: readonly string[];
  /** MCP servers that the session is given. */
  readonly servers?: readonly McpServer[];
  /** The agent of a new session, where the other side has several; its first one when it is not given. */
  readonly agent?: string;
}

export function newSessionRequest(place: SessionPlace): AgentRequest {
  const { agent } = place;
  const meta = agent === undefined ? {} : { _meta: { harn: { agent } } };
  return { method: "session/new", params: { ...placeParams(place), ...meta } };
}

/** `cursor` is the last that the client was told, where the agent says such. */
export function takeUpRequest(
  how: "load" | "resume" | "fork",
  sessionId: string,
  { cursor, ...place }: SessionPlace & { readonly cursor?: string },
): AgentRequest {
  const meta = cursor === undefined ? {} : { _meta: { harn: { cursor } } };
  return { method: `session/${how}`, params: { sessionId, ...placeParams(place), ...meta } };
}

function placeParams({ workingDirectory, folders = [], servers = [] }: SessionPlace): JsonObject {
  return {
    cwd: workingDirectory,
    ...(folders.length > 0 && { additionalDirectories: folders }),
    mcpServers: servers.map(mcpServerFields),
  };
}

export function listRequest(wanted: {
  readonly workingDirectory?: string;
  readonly page?: string;
}): AgentRequest {
  const { workingDirectory: cwd, page: cursor } = wanted;
  return { method: "session/list", params: { ...present({ cwd, cursor }) } };
}

export function sessionRequest(what: "close" | "delete", sessionId: string): AgentRequest {
  return { method: `session/${what}`, params: { sessionId } };
}

/** With a `promptId`, an agent that knows such takes the same prompt for the same, however often it comes. */
export function promptRequest(
  sessionId: string,
  blocks: readonly PromptBlock[],
  { promptId }: { readonly promptId?: string } = {},
): AgentRequest {
  const meta = promptId === undefined ? {} : { _meta: { harn: { promptId } } };
  return { method: "session/prompt", params: { sessionId, prompt: blocks, ...meta } };
}

export function modeRequest(sessionId: string, modeId: string): AgentRequest {
  return { method: "session/set_mode", params: { sessionId, modeId } };
}

export function optionRequest(
  sessionId: string,
  { option, value }: { readonly option: string; readonly value: JsonValue },
): AgentRequest {
  return { method: "session/set_config_option", params: { sessionId, configId: option, value } };
}

/** How a client wants to be attached to a session. */
export interface Attachment {
  readonly clientId: string;
  readonly mode: ClientMode;
  /** Takes control from whoever has it. */
  readonly takeOver?: boolean;
  /** Binds the name: whoever has the secret is that client. It is not told to others. */
  readonly secret?: string;
  readonly mayPrompt?: boolean;
  readonly mayApprove?: boolean;
  /** The client's own words about itself, which others see. */
  readonly metadata?: JsonObject;
}

export function attachRequest(sessionId: string, attachment: Attachment): AgentRequest {
  const { mode, takeOver = false } = attachment;
  const params = { sessionId, mode, takeover: takeOver, ...ownWords(attachment) };
  return { method: "session/attach", params };
}

export function takeoverRequest(sessionId: string, attachment: Attachment): AgentRequest {
  return { method: "session/takeover", params: { sessionId, ...ownWords(attachment) } };
}

function ownWords(attachment: Attachment): JsonObject {
  const { clientId, mayPrompt, mayApprove } = attachment;
  const may = present({ promptInjection: mayPrompt, permissionRouting: mayApprove });
  return { clientId, ...may, ...metaOf(attachment) };
}

export function heartbeatRequest(
  sessionId: string,
  client: Pick<Attachment, "clientId" | "metadata">,
): AgentRequest {
  const { clientId } = client;
  return { method: "session/heartbeat", params: { sessionId, clientId, ...metaOf(client) } };
}

export function detachRequest(
  sessionId: string,
  { clientId, reason }: { readonly clientId: string; readonly reason?: string },
): AgentRequest {
  return { method: "session/detach", params: { sessionId, clientId, ...present({ reason }) } };
}

export function liveClientsRequest(sessionId: string): AgentRequest {
  return { method: "session/live_clients", params: { sessionId } };
}

function metaOf({ metadata, secret }: Pick<Attachment, "metadata" | "secret">): JsonObject {
  if (metadata === undefined && secret === undefined) return {};
  return {
    _meta: { harn: { ...metadata, ...(secret !== undefined && { attachSecret: secret }) } },
  };
}

/** Ends what a session does; its prompt is answered all the same. */
export function cancelNotification(sessionId: string): AgentRequest {
  return { method: "session/cancel", params: { sessionId } };
}

export function cancelRequestNotification(requestId: string): AgentRequest {
  return { method: "$/cancel_request", params: { requestId } };
}

/** Asks whether somebody is there. Agents need not know it: that they do not is an answer, too. */
export function pingRequest(): AgentRequest {
  return { method: "_harn/ping", params: {} };
}

export function skillsUpdateNotification(): AgentRequest {
  return { method: "skills/update", params: {} };
}
