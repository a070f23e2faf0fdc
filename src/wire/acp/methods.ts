import { isObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { traceContext } from "../../domain/trace-context.ts";
import { methodNotFound } from "../jsonrpc/rpc-error.ts";
import { ABSOLUTE } from "./absolute-path.ts";
import { decodeArguments } from "./approval-arguments.ts";
import { AUTH_METHODS } from "./auth-methods.ts";
import { clientProfile } from "./client-profile.ts";
import type { ClientRequest, SessionSetup } from "./client-request.ts";
import { type Decoded, decoded, decodeSessionId, refusedParams } from "./decoded.ts";
import {
  decodeAttach,
  decodeClients,
  decodeDetach,
  decodeHeartbeat,
  decodeTakeover,
} from "./live-requests.ts";
import { decodeServers } from "./mcp-servers.ts";
import { cursorIn, parseUpdateCursor } from "./update-cursor.ts";
import { decodeSetMode, decodeSetOption } from "./session-modes.ts";
import { harnFields } from "./fields.ts";
import { ARGUMENTS_METHOD } from "./permission-request.ts";
import { decodePrompt } from "./prompt-content.ts";

/** A method that is served, and what it is offered as, so that nothing is offered that is not there. */
interface Method {
  readonly decode: (params: JsonObject) => Decoded<ClientRequest>;
  /** Its place among the agent's capabilities; none where every agent has it. */
  readonly offered?: "loadSession" | { readonly session: string };
}

const STANDARD: readonly [string, Method][] = [
  ["initialize", { decode: decodeInitialize }],
  ["authenticate", { decode: decodeAuthenticate }],
  ["session/new", { decode: decodeNew }],
  ["session/load", { decode: existing("load"), offered: "loadSession" }],
  ["session/resume", { decode: existing("resume"), offered: { session: "resume" } }],
  ["session/fork", { decode: existing("fork"), offered: { session: "fork" } }],
  ["session/list", { decode: decodeList, offered: { session: "list" } }],
  ["session/close", { decode: named("close"), offered: { session: "close" } }],
  ["session/delete", { decode: named("delete"), offered: { session: "delete" } }],
  ["session/prompt", { decode: decodePromptRequest }],
  ["session/cancel", { decode: named("cancel") }],
  ["session/set_mode", { decode: decodeSetMode }],
  ["session/set_config_option", { decode: decodeSetOption }],
];

/** Methods of bridge hosts. To ACP their names are its own, so that each has one that is not. */
const BRIDGE: readonly [string, Method][] = [
  ["session/attach", { decode: decodeAttach }],
  ["session/takeover", { decode: decodeTakeover }],
  ["session/detach", { decode: decodeDetach }],
  ["session/heartbeat", { decode: decodeHeartbeat }],
  ["session/live_clients", { decode: decodeClients }],
  [ARGUMENTS_METHOD, { decode: decodeArguments }],
];

// A map and not an object: "constructor" is not a method.
export const METHODS: ReadonlyMap<string, Method> = new Map([
  ...STANDARD,
  ...BRIDGE,
  ...BRIDGE.map(([name, method]): [string, Method] => [`_harn/${name}`, method]),
]);

/** Whoever calls one of these knows this bridge. */
export function isBridgeMethod(method: string): boolean {
  return BRIDGE.some(([name]) => method === name || method === `_harn/${name}`);
}

/** Reads leniently: what is missing has its obvious meaning, what is unknown is passed over. */
export function decodeRequest(
  method: string,
  params: JsonValue | undefined,
): Decoded<ClientRequest> {
  const known = METHODS.get(method);
  if (known === undefined) return { ok: false, error: methodNotFound(method) };
  const given = params ?? {};
  return isObject(given) ? known.decode(given) : refusedParams("they are not an object");
}

function decodeInitialize({ clientInfo, clientCapabilities }: JsonObject): Decoded<ClientRequest> {
  const info: JsonObject = isObject(clientInfo) ? clientInfo : {};
  const name = [info["title"], info["name"]].find(isFilled) ?? "ACP client";
  const profile = clientProfile(clientCapabilities);
  return decoded({ type: "initialize", clientName: name.slice(0, MAX_NAME), profile });
}

function decodeAuthenticate({ methodId }: JsonObject): Decoded<ClientRequest> {
  const isKnown = AUTH_METHODS.some(({ id }) => id === methodId);
  return isKnown ? decoded({ type: "authenticate" }) : refusedParams(NO_METHOD);
}

function decodeNew(params: JsonObject): Decoded<ClientRequest> {
  const setup = decodeSetup(params);
  return setup.ok ? decoded({ type: "new", ...setup.value }) : setup;
}

function existing(type: "load" | "resume" | "fork"): Method["decode"] {
  return (params) => {
    const session = decodeSessionId(params);
    if (!session.ok) return session;
    const setup = decodeSetup(params);
    return setup.ok ? decoded({ type, sessionId: session.value, ...setup.value }) : setup;
  };
}

function named(type: "close" | "delete" | "cancel"): Method["decode"] {
  return (params) => {
    const session = decodeSessionId(params);
    return session.ok ? decoded({ type, sessionId: session.value }) : session;
  };
}

function decodeList({ cwd, cursor, additionalDirectories }: JsonObject): Decoded<ClientRequest> {
  const folders = readFolders(additionalDirectories);
  if (folders === null) return refusedParams(RELATIVE_FOLDERS);
  const folder = readFolder(cwd ?? undefined);
  if (folder === null) return refusedParams(RELATIVE);
  if (cursor !== undefined && cursor !== null && !isFilled(cursor)) return refusedParams(NO_CURSOR);
  return decoded({
    type: "list",
    ...(folder !== undefined && { workingDirectory: folder }),
    ...(folders.length > 0 && { folders }),
    ...(isFilled(cursor) && { page: cursor }),
  });
}

function decodePromptRequest(params: JsonObject): Decoded<ClientRequest> {
  const { prompt, _meta: meta } = params;
  const session = decodeSessionId(params);
  if (!session.ok) return session;
  const content = decodePrompt(prompt);
  if (!content.ok) return content;
  const { promptId } = harnFields(params);
  if (promptId !== undefined && (!isFilled(promptId) || promptId.length > MAX_ID))
    return refusedParams(`"promptId" is no name of 1 to ${MAX_ID} characters`);
  const trace = isObject(meta) ? traceContext(meta) : undefined;
  const options = trace === undefined ? {} : { options: { trace } };
  return decoded({
    type: "prompt",
    sessionId: session.value,
    command: { type: "prompt", content: content.value, ...options },
    ...(promptId !== undefined && { commandId: promptId }),
  });
}

function decodeSetup(params: JsonObject): Decoded<SessionSetup> {
  const { cwd, mcpServers, additionalDirectories, _meta: meta } = params;
  const folders = readFolders(additionalDirectories);
  if (folders === null) return refusedParams(RELATIVE_FOLDERS);
  const workingDirectory = readFolder(cwd);
  if (typeof workingDirectory !== "string") return refusedParams(RELATIVE);
  const servers = decodeServers(mcpServers);
  if (!servers.ok) return servers;
  const cursor = cursorIn(meta);
  const from = typeof cursor === "string" ? parseUpdateCursor(cursor) : undefined;
  if (cursor !== undefined && from === undefined) return refusedParams(NO_PLACE);
  const { agent } = harnFields(params);
  if (agent !== undefined && !isFilled(agent)) return refusedParams('"agent" is no name');
  return decoded({
    workingDirectory,
    folders,
    servers: servers.value,
    ...(from !== undefined && { from }),
    ...(agent !== undefined && { agent }),
  });
}

/** Null for what is no absolute path. */
function readFolder(cwd: unknown): string | undefined | null {
  if (cwd === undefined) return undefined;
  return typeof cwd === "string" && ABSOLUTE.test(cwd) ? cwd : null;
}

/** Null for what is no list of absolute paths. */
function readFolders(given: unknown): readonly string[] | null {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given) || given.length > MOST_FOLDERS) return null;
  const folders = given.map(readFolder);
  return folders.every((folder) => typeof folder === "string" && !WHOLE_MACHINE.test(folder))
    ? folders.map(String)
    : null;
}

const MOST_FOLDERS = 64;
const WHOLE_MACHINE = /^\/+$/;

function isFilled(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Characters of a client's own name for something. */
const MAX_ID = 200;
const NO_CURSOR = '"cursor" is not one of a list of sessions';
const NO_PLACE = '"_meta.harn.cursor" is none that came with an update';
const NO_METHOD = '"methodId" names no method of "authMethods"';
const RELATIVE_FOLDERS =
  '"additionalDirectories" is no list of absolute paths, has more than 64, or has the whole machine';
const RELATIVE = '"cwd" is not an absolute path';
const MAX_NAME = 200;
