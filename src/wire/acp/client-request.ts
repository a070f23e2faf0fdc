import type { SessionCommand } from "../../domain/session-command.ts";
import { isObject } from "../../domain/json.ts";
import { methodNotFound } from "../jsonrpc/rpc-error.ts";
import { ABSOLUTE } from "./absolute-path.ts";
import { clientProfile, type ClientProfile } from "./client-profile.ts";
import { type Decoded, decoded, refusedParams } from "./decoded.ts";
import { decodePrompt } from "./prompt-content.ts";

/** What a client can ask, in our words. */
export type ClientRequest =
  | {
      readonly type: "initialize";
      readonly clientName: string;
      readonly profile: ClientProfile;
    }
  | ({ readonly type: "new" } & SessionSetup)
  | ({ readonly type: "load"; readonly sessionId: string } & SessionSetup)
  | { readonly type: "prompt"; readonly sessionId: string; readonly command: PromptCommand };

export type PromptCommand = Extract<SessionCommand, { type: "prompt" }>;

export interface SessionSetup {
  readonly workingDirectory: string;
  /** MCP servers that the client wants connected, by name. */
  readonly servers: readonly string[];
}

type Params = { readonly [key: string]: unknown };

/** Reads leniently: what is missing has its obvious meaning, what is unknown is passed over. */
export function decodeRequest(method: string, params: unknown): Decoded<ClientRequest> {
  const decode = DECODERS.get(method);
  if (decode === undefined) return { ok: false, error: methodNotFound(method) };
  const given = params ?? {};
  return isObject(given) ? decode(given) : refusedParams("they are not an object");
}

// A map and not an object: "constructor" is not a method.
const DECODERS: ReadonlyMap<string, (params: Params) => Decoded<ClientRequest>> = new Map([
  ["initialize", decodeInitialize],
  ["session/new", decodeNew],
  ["session/load", decodeLoad],
  ["session/prompt", decodePromptRequest],
]);

function decodeInitialize({ clientInfo, clientCapabilities }: Params): Decoded<ClientRequest> {
  const info: Params = isObject(clientInfo) ? clientInfo : {};
  const name = [info["title"], info["name"]].find(isFilled) ?? "ACP client";
  const profile = clientProfile(clientCapabilities);
  return decoded({ type: "initialize", clientName: name.slice(0, MAX_NAME), profile });
}

function decodeNew(params: Params): Decoded<ClientRequest> {
  const setup = decodeSetup(params);
  return setup.ok ? decoded({ type: "new", ...setup.value }) : setup;
}

function decodeLoad(params: Params): Decoded<ClientRequest> {
  const { sessionId } = params;
  if (!isFilled(sessionId)) return refusedParams(NO_SESSION);
  const setup = decodeSetup(params);
  return setup.ok ? decoded({ type: "load", sessionId, ...setup.value }) : setup;
}

function decodePromptRequest({ sessionId, prompt }: Params): Decoded<ClientRequest> {
  if (!isFilled(sessionId)) return refusedParams(NO_SESSION);
  const content = decodePrompt(prompt);
  if (!content.ok) return content;
  return decoded({
    type: "prompt",
    sessionId,
    command: { type: "prompt", content: content.value },
  });
}

function decodeSetup({ cwd, mcpServers }: Params): Decoded<SessionSetup> {
  if (typeof cwd !== "string" || !ABSOLUTE.test(cwd)) {
    return refusedParams('"cwd" is not an absolute path');
  }
  // Clients forget the empty list.
  const servers = mcpServers ?? [];
  if (!Array.isArray(servers)) return refusedParams('"mcpServers" is not an array');
  return decoded({ workingDirectory: cwd, servers: servers.map(serverName) });
}

function serverName(server: unknown): string {
  const name = isObject(server) ? server["name"] : undefined;
  return isFilled(name) ? name : "unnamed";
}

function isFilled(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

const NO_SESSION = '"sessionId" is missing';
const MAX_NAME = 200;
