import { SpanlineError } from "../../domain/errors.ts";
import type { SessionSetup } from "../../wire/acp/client-request.ts";
import type { ClientLink } from "./client-link.ts";

/** Refuses, before anything is begun, what this client may not bring: a server of its is a program of ours, or a call. */
export function checkSetup(
  { sender, isUser }: Pick<ClientLink, "sender" | "isUser">,
  { servers }: Pick<SessionSetup, "servers">,
): void {
  if (servers.length === 0) return;
  const { rights } = sender.principal;
  if (!rights.includes("control")) throw denied(NO_RIGHT);
  if (!isUser) throw denied(NOT_HERE);
}

function denied(message: string): SpanlineError {
  return new SpanlineError("access_denied", message, { details: { path: "mcpServers" } });
}

const NO_RIGHT =
  "To bring MCP servers needs the right to control: connect with the token of the bridge, or leave mcpServers empty";
const NOT_HERE =
  "MCP servers are taken from this machine's user alone: configure them for the agent, or leave mcpServers empty";
