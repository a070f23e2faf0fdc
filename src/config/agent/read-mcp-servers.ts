import { isObject } from "../../data/json.ts";
import { formatValue } from "../../text/format-value.ts";
import { MCP_LIMITS } from "../../tools/mcp/mcp-limits.ts";
import type {
  HttpServerSettings,
  McpRoots,
  McpServerSettings,
  StdioServerSettings,
} from "../../tools/mcp/mcp-server-settings.ts";
import { toServerPrefix } from "../../tools/mcp/model-name.ts";
import {
  checkPositiveNumber,
  checkType,
  checkOneOf,
  readOptions,
  invalidOptionError,
  type UncheckedOptions,
} from "../option-reader.ts";

const COMMON_OPTIONS = [
  "name",
  "type",
  "timeoutMs",
  "maxTimeoutMs",
  "connectTimeoutMs",
  "idleMs",
  "include",
  "exclude",
  "trusted",
  "roots",
] as const;
const STDIO_OPTIONS = [...COMMON_OPTIONS, "command", "args", "env", "inheritEnv", "cwd"] as const;
const HTTP_OPTIONS = [...COMMON_OPTIONS, "url", "headers"] as const;

/**
 * Reads MCP servers as somebody wrote them down: a list, or an object by their names. Throws `invalid_option` with the path
 * of what cannot work, or would not do what it seems to say. No value of `env` and `headers` is ever shown.
 */
export function readMcpServers(value: unknown, path = "mcpServers"): readonly McpServerSettings[] {
  const servers = listEntries(value, path).map(([given, at]) => readServer(given, at));
  if (servers.length > MCP_LIMITS.servers) {
    const message = `${path} has ${servers.length} servers; a session has ${MCP_LIMITS.servers} at most`;
    throw invalidOptionError(path, message);
  }
  const parts = new Map<string, string>();
  for (const { name } of servers) {
    const existing = parts.get(toServerPrefix(name));
    parts.set(toServerPrefix(name), name);
    if (existing === undefined) continue;
    const message =
      existing === name
        ? `${path} has two servers named ${formatValue(name)}`
        : `${path}: the tools of ${formatValue(existing)} and ${formatValue(name)} would have the same names; rename one of the servers`;
    throw invalidOptionError(path, message);
  }
  return servers;
}

function listEntries(value: unknown, path: string): readonly (readonly [unknown, string])[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value.map((item: unknown, at) => [item, `${path}[${at}]`]);
  if (!isObject(value)) {
    const message = `${path} is ${formatValue(value)}, wanted a list of servers, or an object of them by name`;
    throw invalidOptionError(path, message);
  }
  return Object.entries(value).map(([name, given]) => {
    const at = `${path}.${name}`;
    if (!isObject(given))
      throw invalidOptionError(at, `${at} is ${formatValue(given)}, wanted an object`);
    if (given["name"] !== undefined && given["name"] !== name) {
      throw invalidOptionError(`${at}.name`, `${at}.name is another name; leave it out`);
    }
    return [{ ...given, name }, at];
  });
}

function readServer(value: unknown, path: string): McpServerSettings {
  const { type, command, url } = readOptions(value, path, [...STDIO_OPTIONS, ...HTTP_OPTIONS]);
  checkOneOf(type, `${path}.type`, ["stdio", "http", "sse"]);
  if (command === undefined && url === undefined) {
    const message = `${path} has neither a command to start nor a url to call`;
    throw invalidOptionError(path, message);
  }
  if (command !== undefined && url !== undefined) {
    throw invalidOptionError(path, `${path} has both a command and a url; give one of them`);
  }
  const isProgram = command !== undefined;
  if (type !== undefined && isProgram !== (type === "stdio")) {
    const expected = isProgram ? "stdio" : "http or sse";
    const has = isProgram ? "command" : "url";
    throw invalidOptionError(
      `${path}.type`,
      `${path}.type is ${formatValue(type)}, but it has a ${has}; use ${expected}`,
    );
  }
  return isProgram ? readStdio(value, path) : readHttp(value, path);
}

function readStdio(value: unknown, path: string): StdioServerSettings {
  const options = readOptions(value, path, STDIO_OPTIONS);
  const { command, args, env, inheritEnv, cwd } = options;
  if (typeof command !== "string" || command.trim() === "" || command.includes("\0")) {
    throw invalidOptionError(
      `${path}.command`,
      `${path}.command is ${formatValue(command)}, wanted a program`,
    );
  }
  checkType(cwd, `${path}.cwd`, "string");
  const names = readOptionalStrings(inheritEnv, `${path}.inheritEnv`);
  names?.forEach((name, at) => checkVariable(name, `${path}.inheritEnv[${at}]`));
  const variables = readSecretStrings(env, `${path}.env`);
  for (const name of Object.keys(variables ?? {})) checkVariable(name, `${path}.env.${name}`);
  const program = readOptionalStrings(args, `${path}.args`);
  return {
    ...readCommon(options, path),
    type: "stdio",
    command,
    ...(program !== undefined && { args: program }),
    ...(variables !== undefined && { env: variables }),
    ...(names !== undefined && { inheritEnv: names }),
    ...(typeof cwd === "string" && { cwd }),
  };
}

function readHttp(value: unknown, path: string): HttpServerSettings {
  const options = readOptions(value, path, HTTP_OPTIONS);
  const { url, headers, type } = options;
  const address = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (typeof url !== "string" || address === undefined || !/^https?:$/.test(address.protocol)) {
    throw invalidOptionError(
      `${path}.url`,
      `${path}.url is ${formatValue(url)}, wanted an http or https URL`,
    );
  }
  if (address.username !== "" || address.password !== "") {
    throw invalidOptionError(
      `${path}.url`,
      `${path}.url has a password in it; give it as a header, such as Authorization`,
    );
  }
  const sentHeaders = readSecretStrings(headers, `${path}.headers`);
  for (const [name, text] of Object.entries(sentHeaders ?? {})) {
    checkHeader(name, text, `${path}.headers.${name}`);
  }
  return {
    ...readCommon(options, path),
    type: type === "sse" ? "sse" : "http",
    url,
    ...(sentHeaders !== undefined && { headers: sentHeaders }),
  };
}

function readCommon(
  options: UncheckedOptions,
  path: string,
): Omit<StdioServerSettings, "type" | "command" | "args" | "env" | "inheritEnv" | "cwd"> {
  const { name, timeoutMs, maxTimeoutMs, connectTimeoutMs, idleMs, trusted } = options;
  if (typeof name !== "string" || !/^[^\p{C}\p{Z}](?:[^\p{C}]{0,62}[^\p{C}\p{Z}])?$/u.test(name)) {
    const message = `${path}.name is ${formatValue(name)}, wanted 1 to 64 characters`;
    throw invalidOptionError(`${path}.name`, name === undefined ? `${path} has no name` : message);
  }
  const times = { timeoutMs, maxTimeoutMs, connectTimeoutMs, idleMs };
  for (const [key, time] of Object.entries(times)) checkPositiveNumber(time, `${path}.${key}`);
  if (Number(timeoutMs) > Number(maxTimeoutMs)) {
    const message = `${path}.maxTimeoutMs is less than timeoutMs, which would never be reached`;
    throw invalidOptionError(`${path}.maxTimeoutMs`, message);
  }
  checkType(trusted, `${path}.trusted`, "boolean");
  const include = readOptionalStrings(options["include"], `${path}.include`);
  const exclude = readOptionalStrings(options["exclude"], `${path}.exclude`);
  const roots = readRoots(options["roots"], `${path}.roots`);
  return {
    name,
    ...(timeoutMs !== undefined && { timeoutMs: Number(timeoutMs) }),
    ...(maxTimeoutMs !== undefined && { maxTimeoutMs: Number(maxTimeoutMs) }),
    ...(connectTimeoutMs !== undefined && { connectTimeoutMs: Number(connectTimeoutMs) }),
    ...(idleMs !== undefined && { idleMs: Number(idleMs) }),
    ...(include !== undefined && { include }),
    ...(exclude !== undefined && { exclude }),
    ...(trusted === true && { trusted }),
    ...(roots !== undefined && { roots }),
  };
}

function readRoots(value: unknown, path: string): McpRoots | undefined {
  if (value === undefined || value === "session") return value;
  if (!Array.isArray(value)) {
    throw invalidOptionError(
      path,
      `${path} is ${formatValue(value)}, expected "session" or an array of folders`,
    );
  }
  return value.map((folder: unknown, at) => {
    if (typeof folder === "string" && folder !== "" && !folder.includes("\0")) {
      checkRootPath(folder, `${path}[${at}]`);
      return folder;
    }
    throw invalidOptionError(
      `${path}[${at}]`,
      `${path}[${at}] is ${formatValue(folder)}, expected a folder`,
    );
  });
}

/** A shell expands `~`, and a client turns paths into URLs. Taken as a relative path, either would name a folder that nobody meant. */
function checkRootPath(folder: string, path: string): void {
  const isUrl = /^[a-z][a-z0-9+.-]+:/i.test(folder);
  if (!isUrl && !folder.startsWith("~")) return;
  const reason = isUrl ? "not a URL" : "~ is not expanded";
  const message = `${path} is ${formatValue(folder)}, expected the path of a folder: ${reason}. Fix: write the whole path, such as "/home/me/notes"`;
  throw invalidOptionError(path, message);
}

function readOptionalStrings(value: unknown, path: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) {
    throw invalidOptionError(path, `${path} is ${formatValue(value)}, wanted an array of texts`);
  }
  return value.map((item: unknown, at) => {
    if (typeof item === "string" && !item.includes("\0")) return item;
    throw invalidOptionError(
      `${path}[${at}]`,
      `${path}[${at}] is ${formatValue(item)}, wanted a text`,
    );
  });
}

/** Texts by name that are nobody's business. */
function readSecretStrings(
  value: unknown,
  path: string,
): { readonly [name: string]: string } | undefined {
  if (value === undefined) return undefined;
  if (!isObject(value)) {
    throw invalidOptionError(path, `${path} is ${formatValue(value)}, wanted an object of texts`);
  }
  const texts = Object.entries(value).map(([name, text]): [string, string] => {
    if (typeof text === "string" && !text.includes("\0")) return [name, text];
    throw invalidOptionError(`${path}.${name}`, `${path}.${name} is no text`);
  });
  return Object.fromEntries(texts);
}

function checkVariable(name: string, path: string): void {
  if (/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name)) return;
  throw invalidOptionError(path, `${path}: ${formatValue(name)} is no name of a variable`);
}

function checkHeader(name: string, text: string, path: string): void {
  if (!/^[a-zA-Z0-9!#$%&'*+.^_`|~-]+$/.test(name)) {
    throw invalidOptionError(path, `${path}: ${formatValue(name)} is no name of a header`);
  }
  if (/^(?:mcp-.*|accept|content-.*|host|connection|transfer-encoding)$/i.test(name)) {
    throw invalidOptionError(
      path,
      `${path}: the header ${name} is set by the protocol; leave it out`,
    );
  }
  // eslint-disable-next-line no-control-regex
  if (/[^\t\x20-\x7E\x80-\xFF]/.test(text)) {
    throw invalidOptionError(path, `${path} has characters that no header can have`);
  }
}
