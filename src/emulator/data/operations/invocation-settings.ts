import { isObject, type JsonObject, type JsonValue } from "../../../data/json.ts";
import type { EmulatedLimits, InvocationSettings, ToolSetting } from "../../brains/brain.ts";
import type { HarnessRecord } from "../../control/harness-registry.ts";
import type { Switches } from "../../switches.ts";
import { isAbsent, type Constraints } from "../../service/constraints.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import { ALLOWED_TOOL_RULE, checkTool } from "../../service/check-tool.ts";

/** Overrides in an invocation. Absent members use the settings of the harness. */
export interface SettingOverrides {
  readonly systemPrompt?: readonly string[];
  readonly tools?: readonly ToolSetting[];
  readonly allowedTools?: readonly string[];
  readonly model?: JsonValue;
  readonly maxIterations?: number;
  readonly maxTokens?: number;
  readonly timeoutSeconds?: number;
}

/** The defaults of the service. */
const DEFAULT_ITERATIONS = 75;
const DEFAULT_TIMEOUT_SECONDS = 3600;

/** Merges the settings. A given member replaces the member of the harness completely; lists are never merged. */
export function resolveSettings(
  harness: HarnessRecord,
  overrides: SettingOverrides,
  switches: Switches,
): InvocationSettings {
  const model = overrides.model ?? harness.model;
  return {
    systemPrompt: overrides.systemPrompt ?? harness.systemPrompt.flatMap(readText),
    tools: overrides.tools ?? harness.tools.map(toToolSetting),
    allowedTools: overrides.allowedTools ?? harness.allowedTools,
    model,
    limits: resolveLimits(harness, overrides, { switches, model }),
  };
}

function resolveLimits(
  harness: HarnessRecord,
  overrides: SettingOverrides,
  { switches, model }: { readonly switches: Switches; readonly model: JsonValue },
): EmulatedLimits {
  const maxTokens = overrides.maxTokens ?? harness.maxTokens ?? null;
  const perCall = switches.maxTokens === "per-call";
  const modelLimit = readModelTokens(model);
  return {
    maxIterations: overrides.maxIterations ?? harness.maxIterations ?? DEFAULT_ITERATIONS,
    maxTokens: perCall ? null : maxTokens,
    maxTokensPerCall: perCall ? (maxTokens ?? modelLimit) : modelLimit,
    timeoutSeconds: overrides.timeoutSeconds ?? harness.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
  };
}

/** The limit of the model, which applies to a single response. */
function readModelTokens(model: JsonValue): number | null {
  const [config] = isObject(model) ? Object.values(model) : [];
  const tokens = isObject(config) ? config["maxTokens"] : undefined;
  return typeof tokens === "number" ? tokens : null;
}

function readText(block: JsonValue): string[] {
  const text = isObject(block) ? block["text"] : undefined;
  return typeof text === "string" ? [text] : [];
}

function toToolSetting(tool: JsonValue): ToolSetting {
  const { type, name, config } = isObject(tool) ? tool : {};
  const inline = isObject(config) ? config["inlineFunction"] : undefined;
  const { description, inputSchema } = isObject(inline) ? inline : {};
  return {
    type: typeof type === "string" ? type : "",
    name: typeof name === "string" ? name : "",
    description: typeof description === "string" ? description : "",
    inputSchema: inputSchema ?? {},
  };
}

/** Reads the overrides by the rules of the service model. */
export function readOverrides(constraints: Constraints, body: JsonObject): SettingOverrides {
  const readOptional = <Value>(
    name: string,
    read: (checks: Constraints, path: string, value: JsonValue) => Value,
  ): Value | undefined => {
    const value = body[name];
    return isAbsent(value) ? undefined : read(constraints, name, value);
  };
  readOptional("skills", checkSkills);
  readOptional("actorId", (_, path, value) => constraints.readText(path, value));
  const wholeNumber = (_: Constraints, path: string, value: JsonValue): number =>
    constraints.readWholeNumber(path, value);
  return omitUndefined({
    systemPrompt: readOptional("systemPrompt", readPrompt),
    tools: readOptional("tools", readTools),
    allowedTools: readOptional("allowedTools", readAllowed),
    model: readOptional("model", readModel),
    maxIterations: readOptional("maxIterations", wholeNumber),
    maxTokens: readOptional("maxTokens", wholeNumber),
    timeoutSeconds: readOptional("timeoutSeconds", wholeNumber),
  });
}

function readPrompt(constraints: Constraints, path: string, value: JsonValue): string[] {
  return constraints.readList(path, value).map((block, number) => {
    const memberPath = `${path}.${number + 1}.member`;
    const member = constraints.readUnion(memberPath, block, ["text"]);
    return member === null ? "" : constraints.readText(`${memberPath}.text`, member[1], { min: 1 });
  });
}

function readTools(constraints: Constraints, path: string, value: JsonValue): ToolSetting[] {
  return constraints.readList(path, value).map((tool, number) => {
    checkTool(constraints, `${path}.${number + 1}.member`, tool);
    return toToolSetting(tool);
  });
}

function readAllowed(constraints: Constraints, path: string, value: JsonValue): string[] {
  return constraints
    .readList(path, value)
    .map((entry, number) =>
      constraints.readText(`${path}.${number + 1}.member`, entry, ALLOWED_TOOL_RULE),
    );
}

const MODEL_TYPES = [
  "bedrockModelConfig",
  "openAiModelConfig",
  "geminiModelConfig",
  "liteLlmModelConfig",
];

function readModel(constraints: Constraints, path: string, value: JsonValue): JsonValue {
  const member = constraints.readUnion(path, value, MODEL_TYPES);
  if (member !== null) {
    const [name, config] = member;
    const { modelId, maxTokens } = constraints.readStructure(`${path}.${name}`, config);
    constraints.readText(`${path}.${name}.modelId`, modelId, { min: 1 });
    if (!isAbsent(maxTokens)) {
      constraints.readWholeNumber(`${path}.${name}.maxTokens`, maxTokens, { min: 1 });
    }
  }
  return value;
}

function checkSkills(constraints: Constraints, path: string, value: JsonValue): void {
  for (const [number, skill] of constraints.readList(path, value).entries()) {
    constraints.readUnion(`${path}.${number + 1}.member`, skill, [
      "path",
      "s3",
      "git",
      "awsSkills",
    ]);
  }
}
