import { isObject } from "../../data/json.ts";
import {
  array,
  boolean,
  number,
  object,
  oneOf,
  optional,
  record,
  refine,
  string,
  type Schema,
} from "../../data/schema-reader.ts";
import { throwInvalid, throwProblem } from "../../data/schema-error.ts";
import { formatValue } from "../../text/format-value.ts";
import { MCP_LIMITS } from "../../tools/mcp/mcp-limits.ts";
import type {
  HttpServerSettings,
  McpRoots,
  McpServerSettings,
  StdioServerSettings,
} from "../../tools/mcp/mcp-server-settings.ts";
import { toServerPrefix } from "../../tools/mcp/model-name.ts";
import { readOptions } from "../../domain/option-reader.ts";
import { checkVariableName } from "../variables/variables.ts";

/**
 * Parses the settings of MCP servers: an array, or an object by name. Throws `invalid_option` with the path of an
 * invalid setting. Messages never contain values of `env` and `headers`.
 */
export function readMcpServers(value: unknown, path = "mcpServers"): readonly McpServerSettings[] {
  return readOptions(MCP_SERVERS_SCHEMA, value, path);
}

export const MCP_SERVERS_SCHEMA: Schema<readonly McpServerSettings[]> = (value, path) => {
  const servers = readServerList(value, path);
  if (servers.length > MCP_LIMITS.servers) {
    const problem = `has ${servers.length} servers: expected at most ${MCP_LIMITS.servers}`;
    throwProblem(path, problem);
  }
  const parts = new Map<string, string>();
  for (const { name } of servers) {
    const existing = parts.get(toServerPrefix(name));
    parts.set(toServerPrefix(name), name);
    if (existing === undefined) continue;
    const problem =
      existing === name
        ? `has two servers named ${formatValue(name)}`
        : `has the servers ${formatValue(existing)} and ${formatValue(name)}, whose tools would have the same names`;
    throwProblem(path, problem, "rename one of the servers");
  }
  return servers;
};

function readServerList(value: unknown, path: string): readonly McpServerSettings[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return array(readServer)(value, path);
  const expected = "an array of servers, or an object of them by name";
  const servers = record((server) => server, { expected })(value, path);
  const entries = Object.entries(servers).map(([name, server]) => [
    name,
    isObject(server) ? addName(server, name, `${path}.${name}`) : server,
  ]);
  return Object.values(record(readServer)(Object.fromEntries(entries), path));
}

function addName(server: { readonly [name: string]: unknown }, name: string, path: string): object {
  if (server["name"] !== undefined && server["name"] !== name)
    throwProblem(`${path}.name`, `differs from the name of the server, ${name}`, "leave it out");
  return { ...server, name };
}

const TEXT = refine(string(), (text, path) =>
  text.includes("\0")
    ? throwInvalid({ path, value: text, expected: "a string without a zero character" })
    : text,
);

/** The message does not quote the value. */
const SECRET: Schema<string> = (value, path) =>
  typeof value === "string" && !value.includes("\0")
    ? value
    : throwInvalid({
        path,
        value,
        expected: "a string without a zero character",
        isSecret: true,
      });

/** A shell expands `~`, and a client turns paths into URLs. As a relative path, either would name an unintended folder. */
const ROOT: Schema<string> = refine(TEXT, (folder, path) => {
  const isUrl = /^[a-z][a-z0-9+.-]+:/i.test(folder);
  if (folder !== "" && !isUrl && !folder.startsWith("~")) return folder;
  const reason = isUrl ? ", not a URL" : folder === "" ? "" : "; ~ is not expanded";
  const expected = `the path of a folder${reason}`;
  const fix = 'write the whole path, such as "/home/me/notes"';
  return throwInvalid({ path, value: folder, expected, fix });
});

const ROOTS: Schema<McpRoots> = (value, path) =>
  value === "session"
    ? value
    : array(ROOT, { expected: '"session" or an array of folders' })(value, path);

const MILLISECONDS = optional(number({ above: 0 }));

const COMMON_SHAPE = {
  name: string({
    pattern: /^[^\p{C}\p{Z}](?:[^\p{C}]{0,62}[^\p{C}\p{Z}])?$/u,
    expected: "1 to 64 characters",
  }),
  timeoutMs: MILLISECONDS,
  maxTimeoutMs: MILLISECONDS,
  connectTimeoutMs: MILLISECONDS,
  idleMs: MILLISECONDS,
  include: optional(array(TEXT)),
  exclude: optional(array(TEXT)),
  trusted: optional(boolean()),
  roots: optional(ROOTS),
};

const STDIO_SHAPE = {
  ...COMMON_SHAPE,
  type: optional(oneOf(["stdio"], { expected: "stdio for a server with a command" })),
  command: refine(TEXT, (command, path) =>
    command.trim() === "" ? throwInvalid({ path, value: command, expected: "a program" }) : command,
  ),
  args: optional(array(TEXT)),
  env: optional(record(SECRET, { name: checkVariableName })),
  inheritEnv: optional(
    array(
      refine(TEXT, (name, path) => {
        checkVariableName(name, path);
        return name;
      }),
    ),
  ),
  cwd: optional(string()),
};

const STDIO_SCHEMA: Schema<StdioServerSettings> = (value, path) => {
  const { trusted, ...server } = object(STDIO_SHAPE)(value, path);
  checkTimeouts(server, path);
  return { ...server, type: "stdio", ...(trusted === true && { trusted }) };
};

const HTTP_SHAPE = {
  ...COMMON_SHAPE,
  type: optional(oneOf(["http", "sse"], { expected: "http or sse for a server with a url" })),
  url: refine(string({ expected: "an http or https URL" }), readUrl),
  headers: optional(refine(record(SECRET, { name: checkHeaderName }), checkHeaderValues)),
};

const HTTP_SCHEMA: Schema<HttpServerSettings> = (value, path) => {
  const { trusted, ...server } = object(HTTP_SHAPE)(value, path);
  checkTimeouts(server, path);
  return { ...server, type: server.type ?? "http", ...(trusted === true && { trusted }) };
};

/** Parses one server. A server has either a command or a URL, and each kind has its own settings. */
function readServer(value: unknown, path: string): McpServerSettings {
  const names = Object.keys({ ...STDIO_SHAPE, ...HTTP_SHAPE });
  const anyServer = object(Object.fromEntries(names.map((name) => [name, (member) => member])));
  const { command, url } = anyServer(value, path);
  if ((command === undefined) === (url === undefined)) {
    const has = command === undefined ? "neither a command nor a url" : "both a command and a url";
    throwProblem(path, `has ${has}: expected one of them`);
  }
  return command === undefined ? HTTP_SCHEMA(value, path) : STDIO_SCHEMA(value, path);
}

function checkTimeouts(
  { timeoutMs = 0, maxTimeoutMs = Infinity }: { timeoutMs?: number; maxTimeoutMs?: number },
  path: string,
): void {
  if (timeoutMs <= maxTimeoutMs) return;
  const expected = `at least timeoutMs, ${timeoutMs}`;
  throwInvalid({ path: `${path}.maxTimeoutMs`, value: maxTimeoutMs, expected });
}

function readUrl(url: string, path: string): string {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (address === undefined || !/^https?:$/.test(address.protocol))
    return throwInvalid({ path, value: url, expected: "an http or https URL" });
  if (address.username !== "" || address.password !== "")
    throwProblem(path, "contains a password", "use a header, such as Authorization");
  return url;
}

function checkHeaderName(name: string, path: string): void {
  if (!/^[a-zA-Z0-9!#$%&'*+.^_`|~-]+$/.test(name))
    throwProblem(path, "is not a valid name of a header: expected letters, digits and -");
  if (/^(?:mcp-.*|accept|content-.*|host|connection|transfer-encoding)$/i.test(name))
    throwProblem(path, "is a header that is set by the protocol", "leave it out");
}

function checkHeaderValues<Headers extends { readonly [name: string]: string }>(
  headers: Headers,
  path: string,
): Headers {
  // eslint-disable-next-line no-control-regex
  const [name] =
    Object.entries(headers).find(([, text]) => /[^\t\x20-\x7E\x80-\xFF]/.test(text)) ?? [];
  if (name !== undefined)
    throwProblem(`${path}.${name}`, "has characters that a header cannot carry");
  return headers;
}
