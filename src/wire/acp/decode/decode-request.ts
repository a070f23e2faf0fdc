import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import { SchemaError } from "../../../data/schema-error.ts";
import { type BudgetCaps, BUDGET_CAPS_SCHEMA } from "../../../domain/budget.ts";
import { readTraceContext } from "../../../domain/trace-context.ts";
import { createMethodNotFound } from "../../jsonrpc/rpc-error.ts";
import { ABSOLUTE_PATH } from "../absolute-path.ts";
import { AUTH_METHODS } from "../auth-methods.ts";
import { ARGUMENTS_METHOD } from "../encode/permissions/encode-permission-request.ts";
import { readCursorMeta, parseUpdateCursor } from "../encode/update-cursor.ts";
import {
  type DecodeResult,
  accept,
  decodeSessionId,
  rejectParams,
  readHarnMeta,
} from "../json-fields.ts";
import { decodeArgumentsRequest } from "./approval-arguments.ts";
import { readClientProfile } from "./client-profile.ts";
import type { ClientRequest, SessionSetup } from "./client-request.ts";
import { decodeMcpServers } from "./decode-mcp-servers.ts";
import { decodeHitlRespond, HITL_RESPOND_METHOD } from "./hitl-messages.ts";
import {
  decodeAttach,
  decodeLiveClients,
  decodeDetach,
  decodeHeartbeat,
  decodeTakeover,
} from "./live-client-messages.ts";
import { decodePrompt } from "./prompt-content.ts";
import { decodeSetMode, decodeSetOption } from "./session-mode-messages.ts";
import {
  decodeDeprecatedInject,
  decodeIdentifiedSteering,
  DEPRECATED_INJECT_METHODS,
  STEERING_METHODS,
} from "./decode-steering.ts";
import { WORKER_METHODS } from "./worker-messages.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/**
 * A served method with its capability. `initialize` derives the offered capabilities from this table, so only served
 * methods are offered.
 */
interface MethodDefinition {
  readonly decode: (params: JsonObject) => DecodeResult<ClientRequest>;
  /** Where the method appears in the agent's capabilities. Undefined for methods which every ACP agent supports. */
  readonly capability?: "loadSession" | { readonly session: string };
}

export const STEERING_METHOD = "_session/steering";

const STANDARD_METHODS: readonly [string, MethodDefinition][] = [
  ["initialize", { decode: decodeInitialize }],
  ["authenticate", { decode: decodeAuthenticate }],
  ["session/new", { decode: decodeNewSession }],
  ["session/load", { decode: createExistingSessionDecoder("load"), capability: "loadSession" }],
  [
    "session/resume",
    { decode: createExistingSessionDecoder("resume"), capability: { session: "resume" } },
  ],
  [
    "session/fork",
    { decode: createExistingSessionDecoder("fork"), capability: { session: "fork" } },
  ],
  ["session/list", { decode: decodeListSessions, capability: { session: "list" } }],
  ["session/close", { decode: createSessionDecoder("close"), capability: { session: "close" } }],
  ["session/delete", { decode: createSessionDecoder("delete"), capability: { session: "delete" } }],
  ["session/prompt", { decode: decodePromptRequest }],
  ["session/cancel", { decode: createSessionDecoder("cancel") }],
  ["session/set_mode", { decode: decodeSetMode }],
  ["session/set_config_option", { decode: decodeSetOption }],
  // Not part of ACP, but used by editors: a client of this method stays a stock client.
  [STEERING_METHOD, { decode: decodeIdentifiedSteering }],
];

/** Methods for bridge hosts. ACP reserves the plain names, so each method also has a `_harn/` name. */
const BRIDGE_METHODS: readonly [string, MethodDefinition][] = [
  ["session/attach", { decode: decodeAttach }],
  ["session/takeover", { decode: decodeTakeover }],
  ["session/detach", { decode: decodeDetach }],
  ["session/heartbeat", { decode: decodeHeartbeat }],
  ["session/live_clients", { decode: decodeLiveClients }],
  ...STEERING_METHODS.map(([name, decode]): [string, MethodDefinition] => [name, { decode }]),
  ...WORKER_METHODS.map(([name, decode]): [string, MethodDefinition] => [name, { decode }]),
  [ARGUMENTS_METHOD, { decode: decodeArgumentsRequest }],
  [HITL_RESPOND_METHOD, { decode: decodeHitlRespond }],
];

// A map, not an object: `constructor` must not resolve to a method.
export const METHODS: ReadonlyMap<string, MethodDefinition> = new Map([
  ...STANDARD_METHODS,
  ...BRIDGE_METHODS,
  ...BRIDGE_METHODS.map(([name, method]): [string, MethodDefinition] => [`_harn/${name}`, method]),
  ...DEPRECATED_INJECT_METHODS.map((name): [string, MethodDefinition] => [
    name,
    { decode: decodeDeprecatedInject },
  ]),
]);

/** Returns true for a bridge method; a client calling such a method uses the bridge protocol. */
export function isBridgeMethod(method: string): boolean {
  const isNamed = BRIDGE_METHODS.some(([name]) => method === name || method === `_harn/${name}`);
  return isNamed || DEPRECATED_INJECT_METHODS.includes(method);
}

/** Returns true for a bridge method which hosts may also send as a notification. */
export function isNotifiableMethod(method: string): boolean {
  const isNamed = NOTIFIABLE_METHODS.some((name) => method === name || method === `_harn/${name}`);
  return isNamed || DEPRECATED_INJECT_METHODS.includes(method);
}

const NOTIFIABLE_METHODS = ["session/remind", "agent/resume", "session/cancel_tool_call"] as const;

/** Decodes leniently: missing optional fields get defaults and unknown fields are ignored. */
export function decodeRequest(
  method: string,
  params: JsonValue | undefined,
): DecodeResult<ClientRequest> {
  const definition = METHODS.get(method);
  if (definition === undefined) return { ok: false, error: createMethodNotFound(method) };
  const fields = params ?? {};
  return isObject(fields) ? definition.decode(fields) : rejectParams("they are not an object");
}

function decodeInitialize({
  clientInfo,
  clientCapabilities,
}: JsonObject): DecodeResult<ClientRequest> {
  const info: JsonObject = isObject(clientInfo) ? clientInfo : {};
  const name = [info["title"], info["name"]].find(isNonEmptyString) ?? "ACP client";
  const profile = readClientProfile(clientCapabilities);
  return accept({ type: "initialize", clientName: name.slice(0, MAX_NAME_CHARACTERS), profile });
}

function decodeAuthenticate({ methodId }: JsonObject): DecodeResult<ClientRequest> {
  const isKnown = AUTH_METHODS.some(({ id }) => id === methodId);
  return isKnown ? accept({ type: "authenticate" }) : rejectParams(UNKNOWN_AUTH_METHOD);
}

function decodeNewSession(params: JsonObject): DecodeResult<ClientRequest> {
  const setup = decodeSessionSetup(params);
  return setup.ok ? accept({ type: "new", ...setup.value }) : setup;
}

function createExistingSessionDecoder(
  type: "load" | "resume" | "fork",
): MethodDefinition["decode"] {
  return (params) => {
    const session = decodeSessionId(params);
    if (!session.ok) return session;
    const setup = decodeSessionSetup(params);
    return setup.ok ? accept({ type, sessionId: session.value, ...setup.value }) : setup;
  };
}

function createSessionDecoder(type: "close" | "delete" | "cancel"): MethodDefinition["decode"] {
  return (params) => {
    const session = decodeSessionId(params);
    return session.ok ? accept({ type, sessionId: session.value }) : session;
  };
}

function decodeListSessions({
  cwd,
  cursor,
  additionalDirectories,
}: JsonObject): DecodeResult<ClientRequest> {
  const folders = readFolders(additionalDirectories);
  if (folders === null) return rejectParams(INVALID_FOLDERS);
  const folder = readFolder(cwd ?? undefined);
  if (folder === null) return rejectParams(INVALID_CWD);
  if (cursor !== undefined && cursor !== null && !isNonEmptyString(cursor))
    return rejectParams(INVALID_PAGE_CURSOR);
  return accept({
    type: "list",
    ...omitUndefined({ workingDirectory: folder }),
    ...(folders.length > 0 && { folders }),
    ...(isNonEmptyString(cursor) && { page: cursor }),
  });
}

function decodePromptRequest(params: JsonObject): DecodeResult<ClientRequest> {
  const { prompt, _meta: meta } = params;
  const session = decodeSessionId(params);
  if (!session.ok) return session;
  const content = decodePrompt(prompt);
  if (!content.ok) return content;
  const { promptId } = readHarnMeta(params);
  if (
    promptId !== undefined &&
    (!isNonEmptyString(promptId) || promptId.length > MAX_ID_CHARACTERS)
  )
    return rejectParams(
      `"promptId" is not a valid id: expected 1 to ${MAX_ID_CHARACTERS} characters`,
    );
  const budget = decodeBudget(params);
  if (!budget.ok) return budget;
  const trace = isObject(meta) ? readTraceContext(meta) : undefined;
  const options = omitUndefined({ trace, budget: budget.value });
  const optionsField = Object.keys(options).length === 0 ? {} : { options };
  return accept({
    type: "prompt",
    sessionId: session.value,
    command: { type: "prompt", content: content.value, ...optionsField },
    ...(promptId !== undefined && { commandId: promptId }),
  });
}

/** Decodes `_meta.harn.budget`: the budget of the turn. */
function decodeBudget(params: JsonObject): DecodeResult<BudgetCaps | undefined> {
  const { budget } = readHarnMeta(params);
  if (budget === undefined) return accept(undefined);
  try {
    return accept(BUDGET_CAPS_SCHEMA(budget, "budget"));
  } catch (error) {
    if (error instanceof SchemaError) return rejectParams(error.message);
    throw error;
  }
}

function decodeSessionSetup(params: JsonObject): DecodeResult<SessionSetup> {
  const { cwd, mcpServers, additionalDirectories, _meta: meta } = params;
  const folders = readFolders(additionalDirectories);
  if (folders === null) return rejectParams(INVALID_FOLDERS);
  const workingDirectory = readFolder(cwd);
  if (typeof workingDirectory !== "string") return rejectParams(INVALID_CWD);
  const servers = decodeMcpServers(mcpServers);
  if (!servers.ok) return servers;
  const cursor = readCursorMeta(meta);
  const from = typeof cursor === "string" ? parseUpdateCursor(cursor) : undefined;
  if (cursor !== undefined && from === undefined) return rejectParams(INVALID_UPDATE_CURSOR);
  const { agent } = readHarnMeta(params);
  if (agent !== undefined && !isNonEmptyString(agent))
    return rejectParams('"agent" is not a valid name: expected a non-empty string');
  return accept({
    workingDirectory,
    folders,
    servers: servers.value,
    ...omitUndefined({ from, agent }),
  });
}

/** Returns null if the value is not an absolute path. */
function readFolder(cwd: unknown): string | undefined | null {
  if (cwd === undefined) return undefined;
  return typeof cwd === "string" && ABSOLUTE_PATH.test(cwd) ? cwd : null;
}

/** Returns null if the value is not a list of at most 64 absolute paths, or contains the root directory. */
function readFolders(value: unknown): readonly string[] | null {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || value.length > MAX_FOLDERS) return null;
  const folders = value.map(readFolder);
  return folders.every((folder) => typeof folder === "string" && !ROOT_PATH.test(folder))
    ? folders.map(String)
    : null;
}

const MAX_FOLDERS = 64;
const ROOT_PATH = /^\/+$/;

function isNonEmptyString(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Limit for ids chosen by the client, in characters. */
const MAX_ID_CHARACTERS = 200;
const INVALID_PAGE_CURSOR =
  '"cursor" is not a valid cursor: expected a "nextCursor" of session/list';
const INVALID_UPDATE_CURSOR =
  '"_meta.harn.cursor" is not a valid cursor: expected the cursor of an update';
const UNKNOWN_AUTH_METHOD = '"methodId" is not a valid method: expected an id of "authMethods"';
const INVALID_FOLDERS =
  '"additionalDirectories" is not valid: expected at most 64 absolute paths without the root directory';
const INVALID_CWD = '"cwd" is not an absolute path';
const MAX_NAME_CHARACTERS = 200;
