import { isIPv6 } from "node:net";
import type { A2aSettings, PushSettings } from "../domain/a2a-settings.ts";
import type { Right } from "../domain/actor.ts";
import {
  array,
  boolean,
  integer,
  number,
  object,
  oneOf,
  optional,
  refine,
  string,
  withDefault,
  type Schema,
} from "../data/schema-reader.ts";
import { throwInvalid, throwProblem } from "../data/schema-error.ts";
import {
  TRACE_MODES,
  type TraceMode,
  type ResponsesSettings,
} from "../domain/responses-settings.ts";
import { formatUrlHost, parseHostName } from "../http/access/host-name.ts";
import type { RateLimitOptions } from "../http/access/rate-limits.ts";
import { DEFAULT_SERVE_CONFIG } from "./default-serve-config.ts";
import { readVariable, type Variable } from "./variables/variables.ts";
import { omitUndefined } from "../data/omit-undefined.ts";
import { WEBHOOK_EVENTS, type WebhookEvent } from "../domain/webhook-events.ts";

/** Settings for serving agents over HTTP. Omitted settings have their defaults. */
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
  /** The address of this server for people, in links. */
  readonly publicUrl?: string;
  readonly webhooks: readonly WebhookConfig[];
  readonly a2a: A2aSettings;
}

/** A receiver of messages about requests to people. */
export interface WebhookConfig {
  readonly url: string;
  /** A reference: a configuration never contains the secret itself. */
  readonly secret: Variable;
  readonly events?: readonly WebhookEvent[];
  readonly allowPrivate?: boolean;
  readonly details?: boolean;
}

/** An access key: its digest, or a reference to it. A configuration never contains the key itself. */
export interface KeyConfig {
  readonly name: string;
  readonly key?: Variable;
  readonly sha256?: string;
  readonly rights?: readonly Right[];
  readonly agents?: readonly string[];
  readonly trace?: TraceMode;
}

export interface ServeLimits {
  /** Bytes per request to an agent. */
  readonly bodyBytes?: number;
  readonly connections?: number;
  readonly sockets?: number;
}

/** Creates the schema of the `serve` section. `agents` are the names of the configured agents. */
export function createServeSchema(agents: readonly string[]): Schema<ServeConfig> {
  const schema = object({
    ...LISTENER_SHAPE,
    ...createResponsesShape(agents),
    keys: withDefault(array(createKeySchema(agents), { expected: "an array of keys" }), []),
    publicUrl: optional(PUBLIC_URL),
    webhooks: withDefault(WEBHOOKS, []),
    a2a: withDefault(createA2aSchema(agents), {}),
  });
  const read: Schema<ServeConfig> = (value, path) => {
    const { host, port, keys, allowedHosts, allowedOrigins, rates, limits, ...rest } = schema(
      value,
      path,
    );
    const { a2a, publicUrl, webhooks, deterministic, ...responses } = rest;
    const { queueSeconds, approvalSeconds, ...settings } = responses;
    return {
      ...omitUndefined({ host, port, publicUrl }),
      webhooks,
      a2a,
      keys,
      allowedHosts,
      allowedOrigins,
      rates,
      limits,
      settings: {
        ...settings,
        ...(queueSeconds !== undefined && { queueMs: queueSeconds * 1000 }),
        ...(approvalSeconds !== undefined && { approvalMs: approvalSeconds * 1000 }),
      },
      deterministic,
    };
  };
  return withDefault(read, DEFAULT_SERVE_CONFIG);
}

const COUNT = optional(integer({ min: 1 }));

const HOST: Schema<string> = refine(string(), (host, path) => {
  const name = parseHostName(isIPv6(host) ? formatUrlHost(host) : host);
  const isAlone = isIPv6(host) || !/:\d*$|\*/.test(host);
  if (name !== undefined && isAlone) return name;
  const expected = 'a name or an address such as "agents.example", without a scheme or a port';
  return throwInvalid({ path, value: host, expected });
});

/** Compared exactly with the `Origin` header of browsers. */
const ORIGIN: Schema<string> = refine(string(), (origin, path) => {
  if (URL.canParse(origin) && new URL(origin).origin === origin) return origin;
  const expected = 'an origin such as "https://app.example", without a path';
  return throwInvalid({ path, value: origin, expected });
});

const PUBLIC_URL: Schema<string> = refine(string(), (text, path) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.search === "" && url.hash === "")
    return text.replace(/\/+$/, "");
  return throwInvalid({ path, value: text, expected: 'a URL such as "https://agents.example"' });
});

const WEBHOOK: Schema<WebhookConfig> = refine(
  object({
    url: string(),
    secret: (value: unknown, path: string) => readVariable(value, path, "secret"),
    events: optional(array(oneOf(WEBHOOK_EVENTS))),
    allowPrivate: optional(boolean()),
    details: optional(boolean()),
  }),
  ({ url, ...webhook }, path) => {
    const { protocol, username } = URL.canParse(url)
      ? new URL(url)
      : { protocol: "", username: "" };
    const isAllowed = protocol === "https:" || (protocol === "http:" && webhook.allowPrivate);
    if (isAllowed === true && username === "") return { url, ...omitUndefined(webhook) };
    const expected = "an https URL without a user name, or an http URL with allowPrivate";
    return throwInvalid({ path: `${path}.url`, value: url, expected });
  },
);

const WEBHOOKS = refine(array(WEBHOOK, { expected: "an array of webhooks" }), (webhooks, path) => {
  const urls = webhooks.map(({ url }) => url);
  const repeated = urls.findIndex((url, at) => urls.indexOf(url) !== at);
  if (repeated === -1) return webhooks;
  return throwProblem(`${path}[${repeated}].url`, "is the URL of another webhook");
});

const LISTENER_SHAPE = {
  host: optional(string()),
  port: optional(integer({ min: 0, max: 65_535 })),
  allowedHosts: withDefault(array(HOST), []),
  allowedOrigins: withDefault(array(ORIGIN), []),
  rates: withDefault(object({ requestsPerMinute: COUNT, burst: COUNT, turns: COUNT }), {}),
  limits: withDefault(object({ bodyBytes: COUNT, connections: COUNT, sockets: COUNT }), {}),
  deterministic: withDefault(boolean(), false),
};

function createResponsesShape(agents: readonly string[]) {
  return {
    statelessAgents: optional(array(oneOf(agents))),
    adoptSessions: optional(boolean()),
    queueSeconds: optional(number({ above: 0 })),
    approvalSeconds: optional(number({ above: 0 })),
    trace: optional(oneOf(TRACE_MODES)),
    foreignHistory: optional(oneOf(["replay", "reject", "ignore"])),
    onDisconnect: optional(oneOf(["cancel", "finish"])),
  };
}

const PUSH: Schema<PushSettings> = refine(
  object({ enabled: optional(boolean()), allowPrivate: optional(boolean()) }),
  (settings) => omitUndefined(settings),
);

function createA2aSchema(agents: readonly string[]): Schema<A2aSettings> {
  const schema = object({
    name: optional(string()),
    description: optional(string()),
    agents: optional(array(oneOf(agents))),
    externalAgent: optional(boolean()),
    push: optional(PUSH),
  });
  return refine(schema, (settings) => omitUndefined(settings));
}

const RIGHTS: readonly Right[] = ["prompt", "approve", "control"];

function createKeySchema(agents: readonly string[]): Schema<KeyConfig> {
  const schema = object({
    name: string({ expected: "the name of the owner of the key" }),
    key: optional((value, path) => readVariable(value, path, "key")),
    sha256: optional(string()),
    rights: optional(
      refine(array(oneOf(RIGHTS)), (names) => RIGHTS.filter((right) => names.includes(right))),
    ),
    agents: optional(array(oneOf(agents))),
    trace: optional(oneOf(TRACE_MODES)),
  });
  return refine(schema, (key, path) => {
    if ((key.key === undefined) === (key.sha256 === undefined)) {
      const expected = "either key, as { env: NAME } or { file: PATH }, or sha256";
      throwProblem(path, `is not a valid key: expected ${expected}`);
    }
    return key;
  });
}

/** Returns the files with keys and secrets, which are protected paths. */
export function listKeyFiles({ keys, webhooks }: ServeConfig): readonly string[] {
  const references = [...keys.map(({ key }) => key), ...webhooks.map(({ secret }) => secret)];
  return references.flatMap((key) =>
    key !== undefined && "file" in key.source ? [key.source.file] : [],
  );
}
