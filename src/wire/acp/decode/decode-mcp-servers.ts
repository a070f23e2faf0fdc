import type { ClientMcpServer } from "../../../domain/client-tools.ts";
import { isObject } from "../../../data/json.ts";
import { formatValue } from "../../../text/format-value.ts";
import { type DecodeResult, accept, rejectParams } from "../json-fields.ts";

/**
 * Decodes the MCP servers of a session setup request. Errors name the position and never the values of `env` and
 * `headers`, because these are secrets.
 */
export function decodeMcpServers(input: unknown): DecodeResult<readonly ClientMcpServer[]> {
  // Some clients omit the list if it is empty.
  const list: unknown = input ?? [];
  if (!Array.isArray(list)) return rejectParams('"mcpServers" is not an array');
  if (list.length > MAX_SERVERS) {
    return rejectParams(`"mcpServers" has more than ${MAX_SERVERS} servers`);
  }
  const servers: ClientMcpServer[] = [];
  for (const [index, entry] of list.entries()) {
    const server = readMcpServer(entry);
    if (typeof server === "string") return rejectParams(`"mcpServers[${index}]" ${server}`);
    servers.push(server);
  }
  return accept(servers);
}

const MAX_SERVERS = 32;

/** Returns the server, or the problem as a string. */
function readMcpServer(input: unknown): ClientMcpServer | string {
  if (!isObject(input)) return "is not an object";
  const { name, type = "stdio", command, url, args = [] } = input;
  if (typeof name !== "string" || name === "") return "has no name";
  if (type === "http") {
    const headers = readPairs(input["headers"]);
    if (typeof url !== "string") return "has no url";
    if (headers === undefined) return 'has invalid "headers": expected a list of names and values';
    return { type, name, url, headers };
  }
  if (type !== "stdio") {
    return `has the type ${formatValue(type)}, which is not in "mcpCapabilities": expected http or stdio`;
  }
  const env = readPairs(input["env"]);
  if (typeof command !== "string" || command === "") return "has no command";
  if (!isStringArray(args)) return 'has invalid "args": expected a list of strings';
  if (env === undefined) return 'has an invalid "env": expected a list of names and values';
  return { type, name, command, args, env };
}

function readPairs(input: unknown): { readonly [name: string]: string } | undefined {
  const list: unknown = input ?? [];
  if (!Array.isArray(list)) return undefined;
  const pairs: [string, string][] = [];
  for (const pair of list) {
    if (!isObject(pair)) return undefined;
    const { name, value } = pair;
    if (typeof name !== "string" || typeof value !== "string") return undefined;
    pairs.push([name, value]);
  }
  return Object.fromEntries(pairs);
}

function isStringArray(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
