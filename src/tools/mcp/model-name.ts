import { digestValue } from "../../platform/digest.ts";

/** The prefix of a server's tool names. Never contains `__`, so the first `__` of a tool name ends the server part. */
export function toServerPrefix(server: string): string {
  const normalized = server.replaceAll(/[^a-zA-Z0-9-]+/g, "_").replaceAll(/^_|_$/g, "");
  if (normalized === "") return `server_${hashName(server)}`;
  return normalized.length <= MAX_SERVER ? normalized : fitName(normalized, MAX_SERVER, server);
}

/**
 * The name of a server's tool for the model: `server__tool`, with characters and a length accepted by all providers.
 * Depends only on the two names, not on the server's other tools.
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

/** Cuts a name and appends a hash of the original, so that shortened names stay distinct. */
function fitName(normalized: string, available: number, original: string): string {
  return `${normalized.slice(0, available - HASH_LENGTH - 1)}_${hashName(original)}`;
}

const HASH_LENGTH = 8;

function hashName(original: string): string {
  return digestValue(original).slice(0, HASH_LENGTH);
}
