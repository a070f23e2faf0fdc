import { SpanlineError } from "../../../domain/errors.ts";
import type { SessionSetup } from "../../../wire/acp/decode/client-request.ts";
import type { ClientLink } from "../connection/client-link.ts";

/** Refuses, before anything is begun, what this client may not bring: a server of its is a program of ours, or a call. */
export function checkSetup(
  { sender, isLocalUser }: Pick<ClientLink, "sender" | "isLocalUser">,
  { servers, folders }: Pick<SessionSetup, "servers" | "folders">,
): void {
  const mayControl = sender.principal.rights.includes("control");
  if (folders.length > 0 && !(mayControl && isLocalUser)) {
    throw createAccessDeniedError("additionalDirectories", FOLDERS_NEED_LOCAL_USER);
  }
  if (servers.length === 0) return;
  if (!mayControl) throw createAccessDeniedError("mcpServers", SERVERS_NEED_CONTROL);
  if (!isLocalUser) throw createAccessDeniedError("mcpServers", SERVERS_NEED_LOCAL_USER);
}

function createAccessDeniedError(path: string, message: string): SpanlineError {
  return new SpanlineError("access_denied", message, { details: { path } });
}

const FOLDERS_NEED_LOCAL_USER =
  "Folders are opened by this machine's user alone, with the right to control: leave additionalDirectories empty";

const SERVERS_NEED_CONTROL =
  "To bring MCP servers needs the right to control: connect with the token of the bridge, or leave mcpServers empty";
const SERVERS_NEED_LOCAL_USER =
  "MCP servers are taken from this machine's user alone: configure them for the agent, or leave mcpServers empty";
