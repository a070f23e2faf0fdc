import {
  anything,
  integer,
  number,
  object,
  oneOf,
  optional,
  refine,
  string,
  variants,
  type Schema,
} from "../../data/schema-reader.ts";
import { throwInvalid } from "../../data/schema-error.ts";
import type { InvocationLimits } from "../../providers/agentcore/invocation-limits.ts";
import { parseGuards, type LocalGuards } from "../../providers/local/turn-guards.ts";
import { encodeOverrides } from "../../wire/agentcore/harness/harness-request.ts";
import { withErrorPath } from "../error-path.ts";
import type { UncheckedOptions } from "../../domain/option-reader.ts";

/** The provider section of a configuration. */
export type ProviderConfig = LocalConfig | AgentCoreConfig | { readonly type: "demo" };

export interface LocalConfig {
  readonly type: "local";
  /** Model API and model name, such as `ollama:qwen3`. */
  readonly model: string;
  /** Address of the model's server, such as `http://127.0.0.1:8000/v1`. */
  readonly baseUrl?: string;
  readonly system?: string;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly guards?: LocalGuards;
  readonly limits?: ConfiguredLimits;
}

export interface AgentCoreConfig {
  readonly type: "harness" | "runtime";
  readonly arn: string;
  readonly qualifier?: string;
  readonly region?: string;
  readonly profile?: string;
  readonly endpoint?: string;
  readonly user?: string;
  readonly limits?: ConfiguredLimits;
  /** Settings that override the deployed harness. */
  readonly overrides: UncheckedOptions;
}

type ConfiguredLimits = Pick<InvocationLimits, "connect" | "firstEvent" | "idle" | "total">;

const SECONDS = optional(number({ above: 0 }));

/** The limits of an invocation: seconds in a configuration, milliseconds in the result. */
const LIMITS_SCHEMA: Schema<ConfiguredLimits> = refine(
  object({
    connectSeconds: SECONDS,
    firstEventSeconds: SECONDS,
    idleSeconds: SECONDS,
    totalSeconds: SECONDS,
  }),
  (limits) =>
    Object.fromEntries(
      Object.entries(limits).map(([name, seconds]) => [
        name.replace("Seconds", ""),
        seconds * 1000,
      ]),
    ),
);

const BASE_URL: Schema<string> = (value, path) =>
  typeof value === "string" && /^https?:\/\//.test(value) && URL.canParse(value)
    ? value
    : throwInvalid({ path, value, expected: 'a URL such as "http://127.0.0.1:8000/v1"' });

const LOCAL_SCHEMA: Schema<LocalConfig> = object({
  type: oneOf(["local"]),
  model: string({ expected: 'a model such as "ollama:qwen3"' }),
  baseUrl: optional(BASE_URL),
  system: optional(string()),
  maxTokens: optional(integer({ min: 1 })),
  temperature: optional(number({ min: 0 })),
  guards: optional(readGuards),
  limits: optional(LIMITS_SCHEMA),
});

function readGuards(value: unknown, path: string): LocalGuards {
  const { repeatedCalls, failingTools, lastSteps } = parseGuards(value, path);
  return {
    repeatedCalls: repeatedCalls ?? false,
    failingTools: failingTools ?? false,
    lastSteps: lastSteps ?? false,
  };
}

const CONNECTION_SHAPE = {
  qualifier: optional(string()),
  region: optional(string()),
  profile: optional(string()),
  endpoint: optional(string()),
  user: optional(string()),
  limits: optional(LIMITS_SCHEMA),
};

const OVERRIDES_SHAPE = {
  systemPrompt: anything,
  model: anything,
  allowedTools: anything,
  skills: anything,
  maxIterations: anything,
  maxTokens: anything,
  timeoutSeconds: anything,
  actorId: anything,
};

const HARNESS_SHAPE = {
  type: oneOf(["harness"]),
  arn: string({ expected: "the ARN of the harness" }),
  ...CONNECTION_SHAPE,
};

const HARNESS_SCHEMA: Schema<AgentCoreConfig> = (value, path) => {
  object({ ...HARNESS_SHAPE, ...OVERRIDES_SHAPE })(value, path);
  const connection = object(HARNESS_SHAPE, { otherNames: "ignore" })(value, path);
  const overrides = object(OVERRIDES_SHAPE, { otherNames: "ignore" })(value, path);
  withErrorPath(path, () => encodeOverrides(Object.fromEntries(Object.entries(overrides))));
  return { ...connection, overrides };
};

const RUNTIME_SCHEMA: Schema<AgentCoreConfig> = refine(
  object({
    type: oneOf(["runtime"]),
    arn: string({ expected: "the ARN of the runtime" }),
    ...CONNECTION_SHAPE,
  }),
  (config) => ({ ...config, overrides: {} }),
);

/** Has a row for every provider type, so a new type is a compile error here. */
const PROVIDER_SCHEMAS: { readonly [Type in ProviderConfig["type"]]: Schema<ProviderConfig> } = {
  local: LOCAL_SCHEMA,
  harness: HARNESS_SCHEMA,
  runtime: RUNTIME_SCHEMA,
  demo: object({ type: oneOf(["demo"]) }),
};

export const PROVIDER_SCHEMA: Schema<ProviderConfig> = variants("type", PROVIDER_SCHEMAS, {
  expected: "an object with a type",
});
