import { isObject } from "../domain/json.ts";
import { shown } from "../domain/shown.ts";
import { MCP_LIMITS } from "../tools/mcp/limits.ts";
import type {
  HttpServerSettings,
  McpRoots,
  McpServerSettings,
  StdioServerSettings,
} from "../tools/mcp/mcp-server-settings.ts";
import { serverPart } from "../tools/mcp/model-name.ts";
import {
  checkAmount,
  checkKind,
  checkOneOf,
  optionsAt,
  wrongOption,
  type Given,
} from "./check-options.ts";

const COMMON = [
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
const STDIO = [...COMMON, "command", "args", "env", "inheritEnv", "cwd"] as const;
const HTTP = [...COMMON, "url", "headers"] as const;

/**
 * Reads MCP servers as somebody wrote them down: a list, or an object by their names. Throws `invalid_option` with the path
 * of what cannot work, or would not do what it seems to say. No value of `env` and `headers` is ever shown.
 */
export function readMcpServers(value: unknown, path = "mcpServers"): readonly McpServerSettings[] {
  const servers = listed(value, path).map(([given, at]) => readServer(given, at));
  if (servers.length > MCP_LIMITS.servers) {
    const message = `${path} has ${servers.length} servers; a session has ${MCP_LIMITS.servers} at most`;
    throw wrongOption(path, message);
  }
  const parts = new Map<string, string>();
  for (const { name } of servers) {
    const other = parts.get(serverPart(name));
    parts.set(serverPart(name), name);
    if (other === undefined) continue;
    const message =
      other === name
        ? `${path} has two servers named ${shown(name)}`
        : `${path}: the tools of ${shown(other)} and ${shown(name)} would have the same names; rename one of the servers`;
    throw wrongOption(path, message);
  }
  return servers;
}

function listed(value: unknown, path: string): readonly (readonly [unknown, string])[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value.map((one: unknown, at) => [one, `${path}[${at}]`]);
  if (!isObject(value)) {
    const message = `${path} is ${shown(value)}, wanted a list of servers, or an object of them by name`;
    throw wrongOption(path, message);
  }
  return Object.entries(value).map(([name, given]) => {
    const at = `${path}.${name}`;
    if (!isObject(given)) throw wrongOption(at, `${at} is ${shown(given)}, wanted an object`);
    if (given["name"] !== undefined && given["name"] !== name) {
      throw wrongOption(`${at}.name`, `${at}.name is another name; leave it out`);
    }
    return [{ ...given, name }, at];
  });
}

function readServer(value: unknown, path: string): McpServerSettings {
  const { type, command, url } = optionsAt(value, path, [...STDIO, ...HTTP]);
  checkOneOf(type, `${path}.type`, ["stdio", "http", "sse"]);
  if (command === undefined && url === undefined) {
    const message = `${path} has neither a command to start nor a url to call`;
    throw wrongOption(path, message);
  }
  if (command !== undefined && url !== undefined) {
    throw wrongOption(path, `${path} has both a command and a url; give one of them`);
  }
  const isProgram = command !== undefined;
  if (type !== undefined && isProgram !== (type === "stdio")) {
    const wanted = isProgram ? "stdio" : "http or sse";
    const has = isProgram ? "command" : "url";
    throw wrongOption(
      `${path}.type`,
      `${path}.type is ${shown(type)}, but it has a ${has}; use ${wanted}`,
    );
  }
  return isProgram ? readStdio(value, path) : readHttp(value, path);
}

function readStdio(value: unknown, path: string): StdioServerSettings {
  const given = optionsAt(value, path, STDIO);
  const { command, args, env, inheritEnv, cwd } = given;
  if (typeof command !== "string" || command.trim() === "" || command.includes("\0")) {
    throw wrongOption(`${path}.command`, `${path}.command is ${shown(command)}, wanted a program`);
  }
  checkKind(cwd, `${path}.cwd`, "string");
  const names = textsAt(inheritEnv, `${path}.inheritEnv`);
  names?.forEach((name, at) => checkVariable(name, `${path}.inheritEnv[${at}]`));
  const variables = secretsAt(env, `${path}.env`);
  for (const name of Object.keys(variables ?? {})) checkVariable(name, `${path}.env.${name}`);
  const program = textsAt(args, `${path}.args`);
  return {
    ...readCommon(given, path),
    type: "stdio",
    command,
    ...(program !== undefined && { args: program }),
    ...(variables !== undefined && { env: variables }),
    ...(names !== undefined && { inheritEnv: names }),
    ...(typeof cwd === "string" && { cwd }),
  };
}

function readHttp(value: unknown, path: string): HttpServerSettings {
  const given = optionsAt(value, path, HTTP);
  const { url, headers, type } = given;
  const address = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  if (typeof url !== "string" || address === undefined || !/^https?:$/.test(address.protocol)) {
    throw wrongOption(`${path}.url`, `${path}.url is ${shown(url)}, wanted an http or https URL`);
  }
  if (address.username !== "" || address.password !== "") {
    throw wrongOption(
      `${path}.url`,
      `${path}.url has a password in it; give it as a header, such as Authorization`,
    );
  }
  const sent = secretsAt(headers, `${path}.headers`);
  for (const [name, text] of Object.entries(sent ?? {})) {
    checkHeader(name, text, `${path}.headers.${name}`);
  }
  return {
    ...readCommon(given, path),
    type: type === "sse" ? "sse" : "http",
    url,
    ...(sent !== undefined && { headers: sent }),
  };
}

function readCommon(
  given: Given,
  path: string,
): Omit<StdioServerSettings, "type" | "command" | "args" | "env" | "inheritEnv" | "cwd"> {
  const { name, timeoutMs, maxTimeoutMs, connectTimeoutMs, idleMs, trusted } = given;
  if (typeof name !== "string" || !/^[^\p{C}\p{Z}](?:[^\p{C}]{0,62}[^\p{C}\p{Z}])?$/u.test(name)) {
    const message = `${path}.name is ${shown(name)}, wanted 1 to 64 characters`;
    throw wrongOption(`${path}.name`, name === undefined ? `${path} has no name` : message);
  }
  const times = { timeoutMs, maxTimeoutMs, connectTimeoutMs, idleMs };
  for (const [key, time] of Object.entries(times)) checkAmount(time, `${path}.${key}`);
  if (Number(timeoutMs) > Number(maxTimeoutMs)) {
    const message = `${path}.maxTimeoutMs is less than timeoutMs, which would never be reached`;
    throw wrongOption(`${path}.maxTimeoutMs`, message);
  }
  checkKind(trusted, `${path}.trusted`, "boolean");
  const include = textsAt(given["include"], `${path}.include`);
  const exclude = textsAt(given["exclude"], `${path}.exclude`);
  const roots = readRoots(given["roots"], `${path}.roots`);
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
    throw wrongOption(
      path,
      `${path} is ${shown(value)}, expected "session" or an array of folders`,
    );
  }
  return value.map((folder: unknown, at) => {
    if (typeof folder === "string" && folder !== "" && !folder.includes("\0")) return folder;
    throw wrongOption(`${path}[${at}]`, `${path}[${at}] is ${shown(folder)}, expected a folder`);
  });
}

function textsAt(value: unknown, path: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) {
    throw wrongOption(path, `${path} is ${shown(value)}, wanted an array of texts`);
  }
  return value.map((one: unknown, at) => {
    if (typeof one === "string" && !one.includes("\0")) return one;
    throw wrongOption(`${path}[${at}]`, `${path}[${at}] is ${shown(one)}, wanted a text`);
  });
}

/** Texts by name that are nobody's business. */
function secretsAt(value: unknown, path: string): { readonly [name: string]: string } | undefined {
  if (value === undefined) return undefined;
  if (!isObject(value)) {
    throw wrongOption(path, `${path} is ${shown(value)}, wanted an object of texts`);
  }
  const texts = Object.entries(value).map(([name, text]): [string, string] => {
    if (typeof text === "string" && !text.includes("\0")) return [name, text];
    throw wrongOption(`${path}.${name}`, `${path}.${name} is no text`);
  });
  return Object.fromEntries(texts);
}

function checkVariable(name: string, path: string): void {
  if (/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name)) return;
  throw wrongOption(path, `${path}: ${shown(name)} is no name of a variable`);
}

function checkHeader(name: string, text: string, path: string): void {
  if (!/^[a-zA-Z0-9!#$%&'*+.^_`|~-]+$/.test(name)) {
    throw wrongOption(path, `${path}: ${shown(name)} is no name of a header`);
  }
  if (/^(?:mcp-.*|accept|content-.*|host|connection|transfer-encoding)$/i.test(name)) {
    throw wrongOption(path, `${path}: the header ${name} is set by the protocol; leave it out`);
  }
  // eslint-disable-next-line no-control-regex
  if (/[^\t\x20-\x7E\x80-\xFF]/.test(text)) {
    throw wrongOption(path, `${path} has characters that no header can have`);
  }
}
