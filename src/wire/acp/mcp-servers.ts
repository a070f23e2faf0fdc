import type { BroughtServer } from "../../domain/equipment.ts";
import { isObject } from "../../domain/json.ts";
import { shown } from "../../domain/shown.ts";
import { type Decoded, decoded, refusedParams } from "./decoded.ts";

/**
 * The MCP servers of a request that sets up a session. What is wrong is said by its place: values of `env` and `headers`
 * are nobody's business.
 */
export function decodeServers(given: unknown): Decoded<readonly BroughtServer[]> {
  // Clients forget the empty list.
  const list: unknown = given ?? [];
  if (!Array.isArray(list)) return refusedParams('"mcpServers" is not an array');
  if (list.length > MOST_SERVERS) {
    return refusedParams(`"mcpServers" has more than ${MOST_SERVERS} servers`);
  }
  const servers: BroughtServer[] = [];
  for (const [index, one] of list.entries()) {
    const server = readServer(one);
    if (typeof server === "string") return refusedParams(`"mcpServers[${index}]" ${server}`);
    servers.push(server);
  }
  return decoded(servers);
}

const MOST_SERVERS = 32;

/** Or what is wrong with it. */
function readServer(given: unknown): BroughtServer | string {
  if (!isObject(given)) return "is not an object";
  const { name, type = "stdio", command, url, args = [] } = given;
  if (typeof name !== "string" || name === "") return "has no name";
  if (type === "http") {
    const headers = readPairs(given["headers"]);
    if (typeof url !== "string") return "has no url";
    if (headers === undefined) return 'has "headers" that are no list of names and values';
    return { type, name, url, headers };
  }
  if (type !== "stdio") {
    return `is of the type ${shown(type)}, which is not among "mcpCapabilities"; use http, or a program`;
  }
  const env = readPairs(given["env"]);
  if (typeof command !== "string" || command === "") return "has no command";
  if (!isTexts(args)) return 'has "args" that are no list of texts';
  if (env === undefined) return 'has an "env" that is no list of names and values';
  return { type, name, command, args, env };
}

function readPairs(given: unknown): { readonly [name: string]: string } | undefined {
  const list: unknown = given ?? [];
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

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}
