import { SpanlineError } from "../../domain/errors.ts";
import type { SessionSetup } from "../../wire/acp/client-request.ts";
import type { ClientLink } from "./client-link.ts";

/** Refuses, before anything is begun, what this client may not bring: a server of its is a program of ours, or a call. */
export function checkSetup(
  { sender, isUser }: Pick<ClientLink, "sender" | "isUser">,
  { servers, folders }: Pick<SessionSetup, "servers" | "folders">,
): void {
  const mayControl = sender.principal.rights.includes("control");
  if (folders.length > 0 && !(mayControl && isUser)) {
    throw denied("additionalDirectories", NO_FOLDERS);
  }
  if (servers.length === 0) return;
  if (!mayControl) throw denied("mcpServers", NO_RIGHT);
  if (!isUser) throw denied("mcpServers", NOT_HERE);
}

function denied(path: string, message: string): SpanlineError {
  return new SpanlineError("access_denied", message, { details: { path } });
}

const NO_FOLDERS =
  "Folders are opened by this machine's user alone, with the right to control: leave additionalDirectories empty";

const NO_RIGHT =
  "To bring MCP servers needs the right to control: connect with the token of the bridge, or leave mcpServers empty";
const NOT_HERE =
  "MCP servers are taken from this machine's user alone: configure them for the agent, or leave mcpServers empty";
