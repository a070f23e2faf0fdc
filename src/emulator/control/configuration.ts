import type { JsonObject, JsonValue } from "../../domain/json.ts";
import { ALLOWED_TOOL, checkTool } from "../tool-rules.ts";
import { present } from "../present.ts";
import type { Fields } from "./fields.ts";

/** What an owner says of a harness, kept as it was written. */
export interface Configuration {
  readonly executionRoleArn: string;
  readonly environment?: JsonObject;
  readonly environmentArtifact?: JsonObject;
  readonly environmentVariables?: { readonly [name: string]: string };
  readonly authorizerConfiguration?: JsonObject;
  readonly model?: JsonObject;
  readonly systemPrompt?: readonly JsonValue[];
  readonly tools?: readonly JsonValue[];
  readonly skills?: readonly JsonValue[];
  readonly allowedTools?: readonly string[];
  readonly memory?: JsonObject;
  readonly truncation?: JsonObject;
  readonly hooks?: readonly JsonValue[];
  readonly maxIterations?: number;
  readonly maxTokens?: number;
  readonly timeoutSeconds?: number;
}

/** The members that a clear needs a wrapper for, since to leave one out means to keep it. */
type Wrapped = "environmentArtifact" | "authorizerConfiguration" | "memory";

export function readConfiguration(fields: Fields): Configuration {
  return {
    executionRoleArn:
      fields.text("executionRoleArn", ROLE_ARN) ?? fields.missing("executionRoleArn"),
    ...readPlainMembers(fields),
    ...present({
      environmentArtifact: fields.union("environmentArtifact"),
      authorizerConfiguration: fields.union("authorizerConfiguration"),
      memory: fields.union("memory"),
    }),
  };
}

export interface ConfigurationPatch {
  readonly set: Partial<Configuration>;
  readonly clear: readonly Wrapped[];
}

/** Lists and structures replace what was there; `{optionalValue}` sets and an empty wrapper clears. */
export function readPatch(fields: Fields): ConfigurationPatch {
  const wrapped = (["environmentArtifact", "authorizerConfiguration", "memory"] as const).map(
    (name) => ({ name, wrapper: fields.wrapper(name) }),
  );
  return {
    set: {
      ...present({ executionRoleArn: fields.text("executionRoleArn", ROLE_ARN) }),
      ...readPlainMembers(fields),
      ...Object.fromEntries(
        wrapped.flatMap(({ name, wrapper }) =>
          wrapper?.value === undefined ? [] : [[name, wrapper.value]],
        ),
      ),
    },
    clear: wrapped.flatMap(({ name, wrapper }) =>
      wrapper !== undefined && wrapper.value === undefined ? [name] : [],
    ),
  };
}

export function patched(
  configuration: Configuration,
  { set, clear }: ConfigurationPatch,
): Configuration {
  const kept: { -readonly [Name in keyof Configuration]: Configuration[Name] } = {
    ...configuration,
    ...set,
  };
  for (const name of clear) delete kept[name];
  return kept;
}

function readPlainMembers(fields: Fields): Partial<Configuration> {
  const environment = fields.union("environment");
  if (environment !== undefined) checkLifecycle(fields, environment);
  return present({
    environment,
    environmentVariables: fields.texts("environmentVariables", VARIABLES),
    model: fields.union("model"),
    systemPrompt: fields.list("systemPrompt"),
    tools: fields.checkedList("tools", checkTool),
    skills: fields.list("skills"),
    allowedTools: fields.textList("allowedTools", ALLOWED_TOOL),
    truncation: fields.object("truncation"),
    hooks: fields.list("hooks"),
    maxIterations: fields.wholeNumber("maxIterations"),
    maxTokens: fields.wholeNumber("maxTokens"),
    timeoutSeconds: fields.wholeNumber("timeoutSeconds"),
  });
}

function checkLifecycle(fields: Fields, environment: JsonObject): void {
  const lifecycle = fields
    .within("environment", environment)
    .nested("agentCoreRuntimeEnvironment")
    ?.nested("lifecycleConfiguration");
  for (const name of ["idleRuntimeSessionTimeout", "maxLifetime"]) {
    lifecycle?.wholeNumber(name, { least: 60, most: 1_209_600 });
  }
}

const ROLE_ARN = { pattern: "arn:aws(-[^:]+)?:iam::([0-9]{12})?:role/.+", least: 1, most: 2048 };
const VARIABLES = { most: 50, name: { least: 1, most: 100 }, value: { least: 0, most: 5000 } };
