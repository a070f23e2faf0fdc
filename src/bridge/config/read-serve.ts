import { isIPv6 } from "node:net";
import type { Right } from "../../domain/actor.ts";
import { nearNames } from "../../domain/near-names.ts";
import { shown } from "../../domain/shown.ts";
import { TRACE_MODES, type TraceMode } from "../../domain/trace-mode.ts";
import { bracketed, hostName } from "../../http/host-name.ts";
import type { RateLimitOptions } from "../../http/rate-limits.ts";
import type { ResponsesSettings } from "../../surfaces/responses/responses-options.ts";
import {
  checkAmount,
  checkCount,
  checkKind,
  checkOneOf,
  optionsAt,
  wrongOption,
} from "../check-options.ts";
import { DEFAULT_SERVE } from "./default-serve.ts";
import { textsAt } from "./texts-at.ts";
import { readVariable, type Variable } from "./variables.ts";

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

const RATES = ["requestsPerMinute", "burst", "turns"] as const;
const LIMITS = ["bodyBytes", "connections", "sockets"] as const;
const SECONDS = ["queueSeconds", "approvalSeconds"] as const;
const CHOICES = {
  trace: TRACE_MODES,
  foreignHistory: ["replay", "reject", "ignore"],
  onDisconnect: ["cancel", "finish"],
} as const;

const NAMES = [
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
  ...SECONDS,
  ...Object.keys(CHOICES),
];

/** `agents` are the names that there are. */
export function readServe(value: unknown, agents: readonly string[]): ServeConfig {
  if (value === undefined) return DEFAULT_SERVE;
  const given = optionsAt(value, "serve", NAMES);
  const { host, port, deterministic } = given;
  checkKind(host, "serve.host", "string");
  checkPort(port);
  checkKind(deterministic, "serve.deterministic", "boolean");
  return {
    ...(typeof host === "string" && { host }),
    ...(typeof port === "number" && { port }),
    keys: keysAt(given["keys"], agents),
    allowedHosts: hostsAt(given["allowedHosts"]),
    allowedOrigins: originsAt(given["allowedOrigins"]),
    rates: countsAt(given["rates"], "serve.rates", RATES),
    limits: countsAt(given["limits"], "serve.limits", LIMITS),
    settings: settingsIn(given, agents),
    deterministic: deterministic === true,
  };
}

function checkPort(value: unknown): void {
  checkCount(value, "serve.port", 0);
  if (typeof value !== "number" || value < 65_536) return;
  throw wrongOption("serve.port", `serve.port is ${value}, wanted a number from 0 to 65535`);
}

const KEY_NAMES = ["name", "key", "sha256", "rights", "agents", "trace"];
const RIGHTS: readonly Right[] = ["prompt", "approve", "control"];

function keysAt(value: unknown, agents: readonly string[]): readonly KeyConfig[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) {
    throw wrongOption("serve.keys", `serve.keys is ${shown(value)}, wanted a list of keys`);
  }
  return value.map((one: unknown, at) => keyAt(one, `serve.keys[${at}]`, agents));
}

function keyAt(value: unknown, path: string, known: readonly string[]): KeyConfig {
  const given = optionsAt(value, path, KEY_NAMES);
  const { name, key, sha256, rights, agents } = given;
  if (typeof name !== "string") {
    throw wrongOption(`${path}.name`, `${path}.name is ${shown(name)}, wanted whose key it is`);
  }
  if ((key === undefined) === (sha256 === undefined)) {
    throw wrongOption(
      path,
      `${path} needs either key, as { env: NAME } or { file: PATH }, or sha256`,
    );
  }
  checkKind(sha256, `${path}.sha256`, "string");
  return {
    name,
    ...(key !== undefined && { key: readVariable(key, `${path}.key`, "key") }),
    ...(typeof sha256 === "string" && { sha256 }),
    ...(rights !== undefined && { rights: rightsAt(rights, `${path}.rights`) }),
    ...(agents !== undefined && { agents: namesAt(agents, `${path}.agents`, known) }),
    ...choiceIn(given, "trace", path),
  };
}

function rightsAt(value: unknown, path: string): readonly Right[] {
  const names = namesAt(value, path, RIGHTS);
  return RIGHTS.filter((right) => names.includes(right));
}

/** Names of things that there are. */
function namesAt(value: unknown, path: string, known: readonly string[]): readonly string[] {
  const names = textsAt(value, path);
  for (const [at, name] of names.entries()) {
    if (known.includes(name)) continue;
    const [near] = nearNames(name, known);
    const instead = near === undefined ? `there are ${known.join(", ")}` : `did you mean ${near}?`;
    throw wrongOption(`${path}[${at}]`, `${path}[${at}] is ${shown(name)}; ${instead}`);
  }
  return names;
}

/** As the names that requests have, whatever port those are sent to. */
function hostsAt(value: unknown): readonly string[] {
  return textsAt(value, "serve.allowedHosts").map((host, at) => {
    const name = hostName(isIPv6(host) ? bracketed(host) : host);
    const isAlone = isIPv6(host) || !/:\d*$|\*/.test(host);
    if (name !== undefined && isAlone) return name;
    const path = `serve.allowedHosts[${at}]`;
    const wanted = 'a name or an address such as "agents.example", without a scheme or a port';
    throw wrongOption(path, `${path} is ${shown(host)}, wanted ${wanted}`);
  });
}

/** Compared letter by letter with what browsers send. */
function originsAt(value: unknown): readonly string[] {
  const origins = textsAt(value, "serve.allowedOrigins");
  for (const [at, origin] of origins.entries()) {
    if (URL.canParse(origin) && new URL(origin).origin === origin) continue;
    const path = `serve.allowedOrigins[${at}]`;
    const wanted = 'an origin such as "https://app.example", without a path';
    throw wrongOption(path, `${path} is ${shown(origin)}, wanted ${wanted}`);
  }
  return origins;
}

function countsAt<Name extends string>(
  value: unknown,
  path: string,
  names: readonly Name[],
): { readonly [One in Name]?: number } {
  const given = optionsAt(value ?? {}, path, names);
  const counts: { [One in Name]?: number } = {};
  for (const name of names) {
    const count = given[name];
    checkCount(count, `${path}.${name}`);
    if (typeof count === "number") counts[name] = count;
  }
  return counts;
}

function settingsIn(
  given: { readonly [name: string]: unknown },
  agents: readonly string[],
): Partial<ResponsesSettings> {
  const { adoptSessions, statelessAgents, queueSeconds, approvalSeconds } = given;
  for (const name of SECONDS) checkAmount(given[name], `serve.${name}`);
  checkKind(adoptSessions, "serve.adoptSessions", "boolean");
  return {
    ...choiceIn(given, "trace"),
    ...choiceIn(given, "foreignHistory"),
    ...choiceIn(given, "onDisconnect"),
    ...(typeof adoptSessions === "boolean" && { adoptSessions }),
    ...(typeof queueSeconds === "number" && { queueMs: queueSeconds * 1000 }),
    ...(typeof approvalSeconds === "number" && { approvalMs: approvalSeconds * 1000 }),
    ...(statelessAgents !== undefined && {
      statelessAgents: namesAt(statelessAgents, "serve.statelessAgents", agents),
    }),
  };
}

function choiceIn<Name extends keyof typeof CHOICES>(
  given: { readonly [name: string]: unknown },
  name: Name,
  path = "serve",
): { readonly [One in Name]?: (typeof CHOICES)[Name][number] } {
  const choices: readonly (typeof CHOICES)[Name][number][] = CHOICES[name];
  checkOneOf(given[name], `${path}.${name}`, choices);
  const chosen = choices.find((choice) => choice === given[name]);
  const found: { [One in Name]?: (typeof CHOICES)[Name][number] } = {};
  if (chosen !== undefined) found[name] = chosen;
  return found;
}

/** Files with keys in them, which no tool may touch. */
export function keyFilesOf({ keys }: ServeConfig): readonly string[] {
  return keys.flatMap(({ key }) =>
    key !== undefined && "file" in key.from ? [key.from.file] : [],
  );
}
