import { isObject } from "../../data/json.ts";
import type { InvocationLimits } from "../../providers/agentcore/invocation-limits.ts";
import { parseGuards, type LocalGuards } from "../../providers/local/turn-guards.ts";
import { formatValue } from "../../text/format-value.ts";
import { encodeOverrides } from "../../wire/agentcore/harness/harness-request.ts";
import { withErrorPath } from "../error-path.ts";
import {
  checkPositiveNumber,
  checkWholeNumber,
  checkType,
  readOptions,
  invalidOptionError,
  type UncheckedOptions,
} from "../option-reader.ts";

/** Where an agent's loop runs, as a configuration says it. */
export type ProviderConfig = LocalConfig | AgentCoreConfig | { readonly type: "demo" };

export interface LocalConfig {
  readonly type: "local";
  /** Such as `ollama:qwen3`. */
  readonly model: string;
  /** Address of the model's server, such as `http://127.0.0.1:8000/v1`. */
  readonly baseUrl?: string;
  readonly system?: string;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly guards?: LocalGuards;
  readonly limits?: ReturnType<typeof readLimits>;
}

export interface AgentCoreConfig {
  readonly type: "harness" | "runtime";
  readonly arn: string;
  readonly qualifier?: string;
  readonly region?: string;
  readonly profile?: string;
  readonly endpoint?: string;
  readonly user?: string;
  readonly limits?: ReturnType<typeof readLimits>;
  /** What differs from the deployed harness. */
  readonly overrides: UncheckedOptions;
}

const CONNECTION_OPTIONS = ["arn", "qualifier", "region", "profile", "endpoint", "user"] as const;
const OVERRIDE_OPTIONS = [
  "systemPrompt",
  "model",
  "allowedTools",
  "skills",
  "maxIterations",
  "maxTokens",
  "timeoutSeconds",
  "actorId",
] as const;

export function readProvider(value: unknown, path: string): ProviderConfig {
  if (!isObject(value)) {
    throw invalidOptionError(
      path,
      `${path} is ${formatValue(value)}, wanted an object with a type`,
    );
  }
  const { type } = value;
  switch (type) {
    case "local":
      return readLocal(value, path);
    case "harness":
      return readAgentCore(
        "harness",
        readOptions(value, path, ["type", "limits", ...CONNECTION_OPTIONS, ...OVERRIDE_OPTIONS]),
        path,
      );
    case "runtime":
      return readAgentCore(
        "runtime",
        readOptions(value, path, ["type", "limits", ...CONNECTION_OPTIONS]),
        path,
      );
    case "demo":
      readOptions(value, path, ["type"]);
      return { type };
    default: {
      const message = `${path}.type is ${formatValue(type)}, wanted local, harness, runtime or demo`;
      throw invalidOptionError(`${path}.type`, message);
    }
  }
}

const LOCAL_OPTIONS = [
  "type",
  "model",
  "baseUrl",
  "system",
  "maxTokens",
  "temperature",
  "guards",
  "limits",
] as const;

function readLocal(value: unknown, path: string): LocalConfig {
  const options = readOptions(value, path, LOCAL_OPTIONS);
  const { model, baseUrl, system, maxTokens, temperature, guards, limits } = options;
  if (typeof model !== "string") {
    const message = `${path}.model is ${formatValue(model)}, wanted a model such as "ollama:qwen3"`;
    throw invalidOptionError(`${path}.model`, message);
  }
  checkBaseUrl(baseUrl, `${path}.baseUrl`);
  checkType(system, `${path}.system`, "string");
  checkWholeNumber(maxTokens, `${path}.maxTokens`);
  if (temperature !== 0) checkPositiveNumber(temperature, `${path}.temperature`);
  return {
    type: "local",
    model,
    ...(typeof baseUrl === "string" && { baseUrl }),
    ...(typeof system === "string" && { system }),
    ...(typeof maxTokens === "number" && { maxTokens }),
    ...(typeof temperature === "number" && { temperature }),
    ...(guards !== undefined && { guards: readGuards(guards, `${path}.guards`) }),
    ...(limits !== undefined && { limits: readLimits(limits, `${path}.limits`) }),
  };
}

function checkBaseUrl(value: unknown, path: string): void {
  if (value === undefined) return;
  if (typeof value === "string" && /^https?:\/\//.test(value) && URL.canParse(value)) return;
  const message = `${path} is ${formatValue(value)}, expected a URL such as "http://127.0.0.1:8000/v1"`;
  throw invalidOptionError(path, message);
}

function readGuards(value: unknown, path: string): LocalGuards {
  const { repeatedCalls, failingTools, lastSteps } = parseGuards(value, path);
  return {
    repeatedCalls: repeatedCalls ?? false,
    failingTools: failingTools ?? false,
    lastSteps: lastSteps ?? false,
  };
}

function readAgentCore(
  type: AgentCoreConfig["type"],
  options: UncheckedOptions,
  path: string,
): AgentCoreConfig {
  const { arn, limits } = options;
  if (typeof arn !== "string") {
    throw invalidOptionError(
      `${path}.arn`,
      `${path}.arn is ${formatValue(arn)}, wanted the ARN of the ${type}`,
    );
  }
  for (const name of CONNECTION_OPTIONS) checkType(options[name], `${path}.${name}`, "string");
  const texts = CONNECTION_OPTIONS.flatMap((name) => {
    const text = options[name];
    return typeof text === "string" ? [[name, text] as const] : [];
  });
  const overrides = Object.fromEntries(
    OVERRIDE_OPTIONS.flatMap((name) =>
      options[name] === undefined ? [] : [[name, options[name]] as const],
    ),
  );
  withErrorPath(path, () => encodeOverrides(overrides));
  return {
    ...Object.fromEntries(texts),
    type,
    arn,
    overrides,
    ...(limits !== undefined && { limits: readLimits(limits, `${path}.limits`) }),
  };
}

const LIMIT_NAMES = ["connect", "firstEvent", "idle", "total"] as const;

/** How long a call may take: in seconds in a configuration, in milliseconds behind it. */
function readLimits(
  value: unknown,
  path: string,
): Pick<InvocationLimits, (typeof LIMIT_NAMES)[number]> {
  const options = readOptions(
    value,
    path,
    LIMIT_NAMES.map((name) => `${name}Seconds`),
  );
  return Object.fromEntries(
    LIMIT_NAMES.flatMap((name) => {
      const seconds = options[`${name}Seconds`];
      checkPositiveNumber(seconds, `${path}.${name}Seconds`);
      return typeof seconds === "number" ? [[name, seconds * 1000] as const] : [];
    }),
  );
}
