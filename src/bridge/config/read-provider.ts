import {
  checkAmount,
  checkCount,
  checkKind,
  optionsAt,
  wrongOption,
  type Given,
} from "../check-options.ts";
import { isObject } from "../../domain/json.ts";
import { checkedGuards, type LocalGuards } from "../../providers/local/guards.ts";
import { overridesBody } from "../../wire/agentcore/harness-request.ts";
import { under } from "./placed-at.ts";
import { readLimits } from "./read-limits.ts";
import { shown } from "../../domain/shown.ts";

/** Where an agent's loop runs, as a configuration says it. */
export type ProviderConfig = LocalConfig | AgentCoreConfig | { readonly type: "demo" };

export interface LocalConfig {
  readonly type: "local";
  /** Such as `ollama:qwen3`. */
  readonly model: string;
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
  readonly overrides: Given;
}

const CONNECTION = ["arn", "qualifier", "region", "profile", "endpoint", "user"] as const;
const OVERRIDES = [
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
    throw wrongOption(path, `${path} is ${shown(value)}, wanted an object with a type`);
  }
  const { type } = value;
  switch (type) {
    case "local":
      return readLocal(value, path);
    case "harness":
      return readAgentCore(
        "harness",
        optionsAt(value, path, ["type", "limits", ...CONNECTION, ...OVERRIDES]),
        path,
      );
    case "runtime":
      return readAgentCore(
        "runtime",
        optionsAt(value, path, ["type", "limits", ...CONNECTION]),
        path,
      );
    case "demo":
      optionsAt(value, path, ["type"]);
      return { type };
    default: {
      const message = `${path}.type is ${shown(type)}, wanted local, harness, runtime or demo`;
      throw wrongOption(`${path}.type`, message);
    }
  }
}

const LOCAL = ["type", "model", "system", "maxTokens", "temperature", "guards", "limits"] as const;

function readLocal(value: unknown, path: string): LocalConfig {
  const given = optionsAt(value, path, LOCAL);
  const { model, system, maxTokens, temperature, guards, limits } = given;
  if (typeof model !== "string") {
    const message = `${path}.model is ${shown(model)}, wanted a model such as "ollama:qwen3"`;
    throw wrongOption(`${path}.model`, message);
  }
  checkKind(system, `${path}.system`, "string");
  checkCount(maxTokens, `${path}.maxTokens`);
  if (temperature !== 0) checkAmount(temperature, `${path}.temperature`);
  return {
    type: "local",
    model,
    ...(typeof system === "string" && { system }),
    ...(typeof maxTokens === "number" && { maxTokens }),
    ...(typeof temperature === "number" && { temperature }),
    ...(guards !== undefined && { guards: guardsAt(guards, `${path}.guards`) }),
    ...(limits !== undefined && { limits: readLimits(limits, `${path}.limits`) }),
  };
}

function guardsAt(value: unknown, path: string): LocalGuards {
  const { repeatedCalls, failingTools, lastSteps } = checkedGuards(value, path);
  return {
    repeatedCalls: repeatedCalls ?? false,
    failingTools: failingTools ?? false,
    lastSteps: lastSteps ?? false,
  };
}

function readAgentCore(type: AgentCoreConfig["type"], given: Given, path: string): AgentCoreConfig {
  const { arn, limits } = given;
  if (typeof arn !== "string") {
    throw wrongOption(`${path}.arn`, `${path}.arn is ${shown(arn)}, wanted the ARN of the ${type}`);
  }
  for (const name of CONNECTION) checkKind(given[name], `${path}.${name}`, "string");
  const texts = CONNECTION.flatMap((name) => {
    const text = given[name];
    return typeof text === "string" ? [[name, text] as const] : [];
  });
  const overrides = Object.fromEntries(
    OVERRIDES.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]] as const])),
  );
  under(path, () => overridesBody(overrides));
  return {
    ...Object.fromEntries(texts),
    type,
    arn,
    overrides,
    ...(limits !== undefined && { limits: readLimits(limits, `${path}.limits`) }),
  };
}
