import type { JsonObject } from "../../../data/json.ts";

/** An MCP server that a client brings to a session: a program that the agent starts, or an address. */
export type McpServer = McpProgram | McpAddress;

export interface McpProgram {
  readonly type?: "stdio";
  readonly name: string;
  readonly command: string;
  readonly args?: readonly string[];
  /** Beside what the agent's own environment has. */
  readonly env?: { readonly [name: string]: string };
}

export interface McpAddress {
  /** Agents say at `initialize` which they take. */
  readonly type: "http" | "sse";
  readonly name: string;
  readonly url: string;
  readonly headers?: { readonly [name: string]: string };
}

/** As it stands on the wire. ACP wants every list, also one that is empty. */
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
