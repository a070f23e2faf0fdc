import { isIPv6 } from "node:net";
import type { Right } from "../domain/actor.ts";
import { suggestNames } from "../text/suggest-name.ts";
import { formatValue } from "../text/format-value.ts";
import { TRACE_MODES, type TraceMode } from "../domain/trace-mode.ts";
import { formatUrlHost, parseHostName } from "../http/access/host-name.ts";
import type { RateLimitOptions } from "../http/access/rate-limits.ts";
import type { ResponsesSettings } from "../domain/responses-settings.ts";
import {
  checkPositiveNumber,
  checkWholeNumber,
  checkType,
  checkOneOf,
  readOptions,
  invalidOptionError,
} from "./option-reader.ts";
import { DEFAULT_SERVE_CONFIG } from "./default-serve-config.ts";
import { readStringList } from "./string-list.ts";
import { readVariable, type Variable } from "./variables/variables.ts";

/** How agents are served over HTTP. What is not said is as it always is. */
export interface ServeConfig {
  readonly host?: string;
  readonly port?: number;
  readonly keys: readonly KeyConfig[];
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly rates: RateLimitOptions;
  readonly limits: ServeLimits;
  readonly settings: Partial<ResponsesSettings>;
  readonly deterministic: boolean;
}

/** A key, or where it is: in a configuration only its digest may stand. */
export interface KeyConfig {
  readonly name: string;
  readonly key?: Variable;
  readonly sha256?: string;
  readonly rights?: readonly Right[];
  readonly agents?: readonly string[];
  readonly trace?: TraceMode;
}

export interface ServeLimits {
  /** Of one request to an agent. */
  readonly bodyBytes?: number;
  readonly connections?: number;
  readonly sockets?: number;
}

const RATE_NAMES = ["requestsPerMinute", "burst", "turns"] as const;
const LIMIT_NAMES = ["bodyBytes", "connections", "sockets"] as const;
const SECONDS_NAMES = ["queueSeconds", "approvalSeconds"] as const;
const CHOICES = {
  trace: TRACE_MODES,
  foreignHistory: ["replay", "reject", "ignore"],
  onDisconnect: ["cancel", "finish"],
} as const;

const OPTION_NAMES = [
  "host",
  "port",
  "keys",
  "allowedHosts",
  "allowedOrigins",
  "rates",
  "limits",
  "statelessAgents",
  "adoptSessions",
  "deterministic",
  ...SECONDS_NAMES,
  ...Object.keys(CHOICES),
];

/** `agents` are the names that there are. */
export function readServe(value: unknown, agents: readonly string[]): ServeConfig {
  if (value === undefined) return DEFAULT_SERVE_CONFIG;
  const options = readOptions(value, "serve", OPTION_NAMES);
  const { host, port, deterministic } = options;
  checkType(host, "serve.host", "string");
  checkPort(port);
  checkType(deterministic, "serve.deterministic", "boolean");
  return {
    ...(typeof host === "string" && { host }),
    ...(typeof port === "number" && { port }),
    keys: readKeys(options["keys"], agents),
    allowedHosts: readHosts(options["allowedHosts"]),
    allowedOrigins: readOrigins(options["allowedOrigins"]),
    rates: readCounts(options["rates"], "serve.rates", RATE_NAMES),
    limits: readCounts(options["limits"], "serve.limits", LIMIT_NAMES),
    settings: readResponsesSettings(options, agents),
    deterministic: deterministic === true,
  };
}

function checkPort(value: unknown): void {
  checkWholeNumber(value, "serve.port", 0);
  if (typeof value !== "number" || value < 65_536) return;
  throw invalidOptionError("serve.port", `serve.port is ${value}, wanted a number from 0 to 65535`);
}

const KEY_NAMES = ["name", "key", "sha256", "rights", "agents", "trace"];
const RIGHTS: readonly Right[] = ["prompt", "approve", "control"];

function readKeys(value: unknown, agents: readonly string[]): readonly KeyConfig[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    throw invalidOptionError(
      "serve.keys",
      `serve.keys is ${formatValue(value)}, wanted a list of keys`,
    );
  }
  return value.map((item: unknown, at) => readKey(item, `serve.keys[${at}]`, agents));
}

function readKey(value: unknown, path: string, knownAgents: readonly string[]): KeyConfig {
  const options = readOptions(value, path, KEY_NAMES);
  const { name, key, sha256, rights, agents } = options;
  if (typeof name !== "string") {
    throw invalidOptionError(
      `${path}.name`,
      `${path}.name is ${formatValue(name)}, wanted whose key it is`,
    );
  }
  if ((key === undefined) === (sha256 === undefined)) {
    throw invalidOptionError(
      path,
      `${path} needs either key, as { env: NAME } or { file: PATH }, or sha256`,
    );
  }
  checkType(sha256, `${path}.sha256`, "string");
  return {
    name,
    ...(key !== undefined && { key: readVariable(key, `${path}.key`, "key") }),
    ...(typeof sha256 === "string" && { sha256 }),
    ...(rights !== undefined && { rights: readRights(rights, `${path}.rights`) }),
    ...(agents !== undefined && { agents: readKnownNames(agents, `${path}.agents`, knownAgents) }),
    ...readChoice(options, "trace", path),
  };
}

function readRights(value: unknown, path: string): readonly Right[] {
  const names = readKnownNames(value, path, RIGHTS);
  return RIGHTS.filter((right) => names.includes(right));
}

/** Names of things that there are. */
function readKnownNames(
  value: unknown,
  path: string,
  knownNames: readonly string[],
): readonly string[] {
  const names = readStringList(value, path);
  for (const [at, name] of names.entries()) {
    if (knownNames.includes(name)) continue;
    const [near] = suggestNames(name, knownNames);
    const instead =
      near === undefined ? `there are ${knownNames.join(", ")}` : `did you mean ${near}?`;
    throw invalidOptionError(
      `${path}[${at}]`,
      `${path}[${at}] is ${formatValue(name)}; ${instead}`,
    );
  }
  return names;
}

/** As the names that requests have, whatever port those are sent to. */
function readHosts(value: unknown): readonly string[] {
  return readStringList(value, "serve.allowedHosts").map((host, at) => {
    const name = parseHostName(isIPv6(host) ? formatUrlHost(host) : host);
    const isAlone = isIPv6(host) || !/:\d*$|\*/.test(host);
    if (name !== undefined && isAlone) return name;
    const path = `serve.allowedHosts[${at}]`;
    const expected = 'a name or an address such as "agents.example", without a scheme or a port';
    throw invalidOptionError(path, `${path} is ${formatValue(host)}, wanted ${expected}`);
  });
}

/** Compared letter by letter with what browsers send. */
function readOrigins(value: unknown): readonly string[] {
  const origins = readStringList(value, "serve.allowedOrigins");
  for (const [at, origin] of origins.entries()) {
    if (URL.canParse(origin) && new URL(origin).origin === origin) continue;
    const path = `serve.allowedOrigins[${at}]`;
    const expected = 'an origin such as "https://app.example", without a path';
    throw invalidOptionError(path, `${path} is ${formatValue(origin)}, wanted ${expected}`);
  }
  return origins;
}

function readCounts<Name extends string>(
  value: unknown,
  path: string,
  names: readonly Name[],
): { readonly [One in Name]?: number } {
  const options = readOptions(value ?? {}, path, names);
  const counts: { [One in Name]?: number } = {};
  for (const name of names) {
    const count = options[name];
    checkWholeNumber(count, `${path}.${name}`);
    if (typeof count === "number") counts[name] = count;
  }
  return counts;
}

function readResponsesSettings(
  options: { readonly [name: string]: unknown },
  agents: readonly string[],
): Partial<ResponsesSettings> {
  const { adoptSessions, statelessAgents, queueSeconds, approvalSeconds } = options;
  for (const name of SECONDS_NAMES) checkPositiveNumber(options[name], `serve.${name}`);
  checkType(adoptSessions, "serve.adoptSessions", "boolean");
  return {
    ...readChoice(options, "trace"),
    ...readChoice(options, "foreignHistory"),
    ...readChoice(options, "onDisconnect"),
    ...(typeof adoptSessions === "boolean" && { adoptSessions }),
    ...(typeof queueSeconds === "number" && { queueMs: queueSeconds * 1000 }),
    ...(typeof approvalSeconds === "number" && { approvalMs: approvalSeconds * 1000 }),
    ...(statelessAgents !== undefined && {
      statelessAgents: readKnownNames(statelessAgents, "serve.statelessAgents", agents),
    }),
  };
}

function readChoice<Name extends keyof typeof CHOICES>(
  options: { readonly [name: string]: unknown },
  name: Name,
  path = "serve",
): { readonly [One in Name]?: (typeof CHOICES)[Name][number] } {
  const choices: readonly (typeof CHOICES)[Name][number][] = CHOICES[name];
  checkOneOf(options[name], `${path}.${name}`, choices);
  const chosen = choices.find((choice) => choice === options[name]);
  const result: { [One in Name]?: (typeof CHOICES)[Name][number] } = {};
  if (chosen !== undefined) result[name] = chosen;
  return result;
}

/** Files with keys in them, which no tool may touch. */
export function listKeyFiles({ keys }: ServeConfig): readonly string[] {
  return keys.flatMap(({ key }) =>
    key !== undefined && "file" in key.source ? [key.source.file] : [],
  );
}
