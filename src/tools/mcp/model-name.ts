import { digestValue } from "../../platform/digest.ts";

/**
 * The first part of the names of a server's tools. It never has `__` in it, so that the first `__` of a tool's name is
 * where its server ends.
 */
export function toServerPrefix(server: string): string {
  const normalized = server.replaceAll(/[^a-zA-Z0-9-]+/g, "_").replaceAll(/^_|_$/g, "");
  if (normalized === "") return `server_${hashName(server)}`;
  return normalized.length <= MAX_SERVER ? normalized : fitName(normalized, MAX_SERVER, server);
}

/**
 * The name of a server's tool for a model: `server__tool` in the characters and the length that all providers take. The
 * same for the same names, whatever else the server offers.
 */
export function toModelName(server: string, tool: string): string {
  const beginning = `${toServerPrefix(server)}__`;
  const available = MAX_NAME - beginning.length;
  const normalized = tool.replaceAll(/[^a-zA-Z0-9_-]/g, "_");
  const isFine = normalized === tool && tool !== "" && tool.length <= available;
  return beginning + (isFine ? tool : fitName(normalized, available, tool));
}

const MAX_NAME = 64;
const MAX_SERVER = 24;

/** What was lost of a name is replaced by a mark of the whole. */
function fitName(normalized: string, available: number, original: string): string {
  return `${normalized.slice(0, available - HASH_LENGTH - 1)}_${hashName(original)}`;
}

const HASH_LENGTH = 8;

function hashName(original: string): string {
  return digestValue(original).slice(0, HASH_LENGTH);
}
