import type { JsonObject } from "../../../data/json.ts";

/** An MCP server for a session: a program that the agent starts, or a URL. */
export type McpServer = McpProgram | McpAddress;

export interface McpProgram {
  readonly type?: "stdio";
  readonly name: string;
  readonly command: string;
  readonly args?: readonly string[];
  /** Environment variables, added to the agent's own environment. */
  readonly env?: { readonly [name: string]: string };
}

export interface McpAddress {
  /** Agents declare the supported transports at `initialize`. */
  readonly type: "http" | "sse";
  readonly name: string;
  readonly url: string;
  readonly headers?: { readonly [name: string]: string };
}

/** Encodes an MCP server. ACP requires every list, even an empty list. */
export function encodeMcpServer(server: McpServer): JsonObject {
  const { name } = server;
  if ("url" in server) {
    const { type, url, headers = {} } = server;
    return { type, name, url, headers: encodePairs(headers) };
  }
  const { command, args = [], env = {} } = server;
  return { name, command, args, env: encodePairs(env) };
}

function encodePairs(values: { readonly [name: string]: string }): readonly JsonObject[] {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}
