import { isObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import type { Limits, Settings, ToolSetting } from "../brains/brain.ts";
import type { HarnessRecord } from "../control/registry.ts";
import type { Switches } from "../switches.ts";
import { isAbsent, type Constraints } from "../constraints.ts";
import { present } from "../present.ts";
import { ALLOWED_TOOL, checkTool } from "../tool-rules.ts";

/** What an invocation may say in place of its harness. Absent members leave the harness's own. */
export interface Overrides {
  readonly systemPrompt?: readonly string[];
  readonly tools?: readonly ToolSetting[];
  readonly allowedTools?: readonly string[];
  readonly model?: JsonValue;
  readonly maxIterations?: number;
  readonly maxTokens?: number;
  readonly timeoutSeconds?: number;
}

/** What the service takes where nobody said anything. */
const DEFAULT_ITERATIONS = 75;
const DEFAULT_TIMEOUT_SECONDS = 3600;

/** A member that is given replaces the harness's as a whole; lists are never merged. */
export function settingsFor(
  harness: HarnessRecord,
  overrides: Overrides,
  switches: Switches,
): Settings {
  const model = overrides.model ?? harness.model;
  return {
    systemPrompt: overrides.systemPrompt ?? harness.systemPrompt.flatMap(textIn),
    tools: overrides.tools ?? harness.tools.map(toolSetting),
    allowedTools: overrides.allowedTools ?? harness.allowedTools,
    model,
    limits: limitsFor(harness, overrides, { switches, model }),
  };
}

function limitsFor(
  harness: HarnessRecord,
  overrides: Overrides,
  { switches, model }: { readonly switches: Switches; readonly model: JsonValue },
): Limits {
  const maxTokens = overrides.maxTokens ?? harness.maxTokens ?? null;
  const perCall = switches.maxTokens === "per-call";
  const ofModel = modelTokens(model);
  return {
    maxIterations: overrides.maxIterations ?? harness.maxIterations ?? DEFAULT_ITERATIONS,
    maxTokens: perCall ? null : maxTokens,
    maxTokensPerCall: perCall ? (maxTokens ?? ofModel) : ofModel,
    timeoutSeconds: overrides.timeoutSeconds ?? harness.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS,
  };
}

/** The model's own limit, which is for one answer. */
function modelTokens(model: JsonValue): number | null {
  const [config] = isObject(model) ? Object.values(model) : [];
  const tokens = isObject(config) ? config["maxTokens"] : undefined;
  return typeof tokens === "number" ? tokens : null;
}

function textIn(block: JsonValue): string[] {
  const text = isObject(block) ? block["text"] : undefined;
  return typeof text === "string" ? [text] : [];
}

function toolSetting(tool: JsonValue): ToolSetting {
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

/** Reads the members that override, by the rules of the service's model. */
export function readOverrides(constraints: Constraints, body: JsonObject): Overrides {
  const given = <Value>(
    name: string,
    read: (checks: Constraints, path: string, value: JsonValue) => Value,
  ): Value | undefined => {
    const value = body[name];
    return isAbsent(value) ? undefined : read(constraints, name, value);
  };
  given("skills", checkSkills);
  given("actorId", (_, path, value) => constraints.text(path, value));
  const wholeNumber = (_: Constraints, path: string, value: JsonValue): number =>
    constraints.wholeNumber(path, value);
  return present({
    systemPrompt: given("systemPrompt", readPrompt),
    tools: given("tools", readTools),
    allowedTools: given("allowedTools", readAllowed),
    model: given("model", readModel),
    maxIterations: given("maxIterations", wholeNumber),
    maxTokens: given("maxTokens", wholeNumber),
    timeoutSeconds: given("timeoutSeconds", wholeNumber),
  });
}

function readPrompt(constraints: Constraints, path: string, value: JsonValue): string[] {
  return constraints.list(path, value).map((block, number) => {
    const place = `${path}.${number + 1}.member`;
    const member = constraints.union(place, block, ["text"]);
    return member === null ? "" : constraints.text(`${place}.text`, member[1], { least: 1 });
  });
}

function readTools(constraints: Constraints, path: string, value: JsonValue): ToolSetting[] {
  return constraints.list(path, value).map((tool, number) => {
    checkTool(constraints, `${path}.${number + 1}.member`, tool);
    return toolSetting(tool);
  });
}

function readAllowed(constraints: Constraints, path: string, value: JsonValue): string[] {
  return constraints
    .list(path, value)
    .map((entry, number) => constraints.text(`${path}.${number + 1}.member`, entry, ALLOWED_TOOL));
}

const MODELS = [
  "bedrockModelConfig",
  "openAiModelConfig",
  "geminiModelConfig",
  "liteLlmModelConfig",
];

function readModel(constraints: Constraints, path: string, value: JsonValue): JsonValue {
  const member = constraints.union(path, value, MODELS);
  if (member !== null) {
    const [name, config] = member;
    const { modelId, maxTokens } = constraints.structure(`${path}.${name}`, config);
    constraints.text(`${path}.${name}.modelId`, modelId, { least: 1 });
    if (!isAbsent(maxTokens)) {
      constraints.wholeNumber(`${path}.${name}.maxTokens`, maxTokens, { least: 1 });
    }
  }
  return value;
}

function checkSkills(constraints: Constraints, path: string, value: JsonValue): void {
  for (const [number, skill] of constraints.list(path, value).entries()) {
    constraints.union(`${path}.${number + 1}.member`, skill, ["path", "s3", "git", "awsSkills"]);
  }
}
