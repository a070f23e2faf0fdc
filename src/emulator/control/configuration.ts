import type { JsonObject, JsonValue } from "../../data/json.ts";
import { ALLOWED_TOOL_RULE, checkTool } from "../service/check-tool.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";
import type { RequestFields } from "./request-fields.ts";

/** The configuration of a harness, stored as sent. */
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

/** Members that can be cleared. An absent member means no change, so clearing needs a wrapper object. */
type WrappedMember = "environmentArtifact" | "authorizerConfiguration" | "memory";

export function readConfiguration(fields: RequestFields): Configuration {
  return {
    executionRoleArn:
      fields.readText("executionRoleArn", ROLE_ARN_RULE) ??
      fields.refuseMissing("executionRoleArn"),
    ...readPlainMembers(fields),
    ...omitUndefined({
      environmentArtifact: fields.readUnion("environmentArtifact"),
      authorizerConfiguration: fields.readUnion("authorizerConfiguration"),
      memory: fields.readUnion("memory"),
    }),
  };
}

export interface ConfigurationPatch {
  readonly set: Partial<Configuration>;
  readonly clear: readonly WrappedMember[];
}

/**
 * Reads an update. Lists and structures replace the old value. `{optionalValue}` sets a member and an empty wrapper
 * clears it.
 */
export function readPatch(fields: RequestFields): ConfigurationPatch {
  const wrapped = (["environmentArtifact", "authorizerConfiguration", "memory"] as const).map(
    (name) => ({ name, wrapper: fields.readWrapper(name) }),
  );
  return {
    set: {
      ...omitUndefined({ executionRoleArn: fields.readText("executionRoleArn", ROLE_ARN_RULE) }),
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

export function applyPatch(
  configuration: Configuration,
  { set, clear }: ConfigurationPatch,
): Configuration {
  const remaining: { -readonly [Name in keyof Configuration]: Configuration[Name] } = {
    ...configuration,
    ...set,
  };
  for (const name of clear) delete remaining[name];
  return remaining;
}

function readPlainMembers(fields: RequestFields): Partial<Configuration> {
  const environment = fields.readUnion("environment");
  if (environment !== undefined) checkLifecycle(fields, environment);
  return omitUndefined({
    environment,
    environmentVariables: fields.readTextMap("environmentVariables", VARIABLES_RULE),
    model: fields.readUnion("model"),
    systemPrompt: fields.readList("systemPrompt"),
    tools: fields.readCheckedList("tools", checkTool),
    skills: fields.readList("skills"),
    allowedTools: fields.readTextList("allowedTools", ALLOWED_TOOL_RULE),
    truncation: fields.readObject("truncation"),
    hooks: fields.readList("hooks"),
    maxIterations: fields.readWholeNumber("maxIterations"),
    maxTokens: fields.readWholeNumber("maxTokens"),
    timeoutSeconds: fields.readWholeNumber("timeoutSeconds"),
  });
}

function checkLifecycle(fields: RequestFields, environment: JsonObject): void {
  const lifecycle = fields
    .openObject("environment", environment)
    .openNested("agentCoreRuntimeEnvironment")
    ?.openNested("lifecycleConfiguration");
  for (const name of ["idleRuntimeSessionTimeout", "maxLifetime"]) {
    lifecycle?.readWholeNumber(name, { min: 60, max: 1_209_600 });
  }
}

const ROLE_ARN_RULE = { pattern: "arn:aws(-[^:]+)?:iam::([0-9]{12})?:role/.+", min: 1, max: 2048 };
const VARIABLES_RULE = { max: 50, name: { min: 1, max: 100 }, value: { min: 0, max: 5000 } };
