import type { ClientMcpServer } from "../../../domain/client-tools.ts";
import { isObject } from "../../../data/json.ts";
import { formatValue } from "../../../text/format-value.ts";
import { type DecodeResult, accept, rejectParams } from "../json-fields.ts";

/**
 * The MCP servers of a request that sets up a session. What is wrong is said by its place: values of `env` and `headers`
 * are nobody's business.
 */
export function decodeMcpServers(input: unknown): DecodeResult<readonly ClientMcpServer[]> {
  // Clients forget the empty list.
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

/** Or what is wrong with it. */
function readMcpServer(input: unknown): ClientMcpServer | string {
  if (!isObject(input)) return "is not an object";
  const { name, type = "stdio", command, url, args = [] } = input;
  if (typeof name !== "string" || name === "") return "has no name";
  if (type === "http") {
    const headers = readPairs(input["headers"]);
    if (typeof url !== "string") return "has no url";
    if (headers === undefined) return 'has "headers" that are no list of names and values';
    return { type, name, url, headers };
  }
  if (type !== "stdio") {
    return `is of the type ${formatValue(type)}, which is not among "mcpCapabilities"; use http, or a program`;
  }
  const env = readPairs(input["env"]);
  if (typeof command !== "string" || command === "") return "has no command";
  if (!isStringArray(args)) return 'has "args" that are no list of texts';
  if (env === undefined) return 'has an "env" that is no list of names and values';
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
