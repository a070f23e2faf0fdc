import { isObject, type JsonValue } from "../../domain/json.ts";
import type { Limits, Settings, ToolSetting } from "../brains/brain.ts";
import type { HarnessRecord } from "../control/registry.ts";
import type { Switches } from "../switches.ts";
import type { Constraints } from "./constraints.ts";

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
export function readOverrides(
  constraints: Constraints,
  body: { readonly [name: string]: unknown },
): Overrides {
  const { systemPrompt, tools, allowedTools, model, skills, actorId } = body;
  if (isGiven(skills)) readSkills(constraints, skills);
  if (isGiven(actorId)) constraints.text("actorId", actorId);
  const maxIterations = constraints.wholeNumber("maxIterations", body["maxIterations"]);
  const maxTokens = constraints.wholeNumber("maxTokens", body["maxTokens"]);
  const timeoutSeconds = constraints.wholeNumber("timeoutSeconds", body["timeoutSeconds"]);
  return {
    ...(isGiven(systemPrompt) ? { systemPrompt: readPrompt(constraints, systemPrompt) } : {}),
    ...(isGiven(tools) ? { tools: readTools(constraints, tools) } : {}),
    ...(isGiven(allowedTools) ? { allowedTools: readAllowed(constraints, allowedTools) } : {}),
    ...(isGiven(model) ? { model: readModel(constraints, model) } : {}),
    ...(maxIterations === undefined ? {} : { maxIterations }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(timeoutSeconds === undefined ? {} : { timeoutSeconds }),
  };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function readPrompt(constraints: Constraints, value: unknown): string[] {
  return constraints.list("systemPrompt", value).map((block, number) => {
    const path = `systemPrompt.${number + 1}.member`;
    const member = constraints.union(path, block, ["text"]);
    return member === null ? "" : constraints.text(`${path}.text`, member[1], { least: 1 });
  });
}

/** Which member of a tool's configuration goes with its type. */
const TOOL_CONFIGS: { readonly [type: string]: string } = {
  remote_mcp: "remoteMcp",
  agentcore_browser: "agentCoreBrowser",
  agentcore_gateway: "agentCoreGateway",
  inline_function: "inlineFunction",
  agentcore_code_interpreter: "agentCoreCodeInterpreter",
};
const TOOL_TYPES = [
  "inline_function",
  ...Object.keys(TOOL_CONFIGS).filter((type) => type !== "inline_function"),
] as const satisfies [string, ...string[]];

function readTools(constraints: Constraints, value: unknown): ToolSetting[] {
  return constraints.list("tools", value).map((tool, number) => {
    const path = `tools.${number + 1}.member`;
    const { type, name, config } = constraints.structure(path, tool);
    const kind = constraints.oneOf(`${path}.type`, type, TOOL_TYPES);
    if (isGiven(name)) {
      constraints.text(`${path}.name`, name, { least: 1, most: 64, pattern: "[a-zA-Z0-9_-]+" });
    }
    if (isGiven(config)) {
      const members = Object.values(TOOL_CONFIGS);
      const member = constraints.union(`${path}.config`, config, members);
      if (member?.[0] === "inlineFunction") {
        readInline(constraints, `${path}.config.inlineFunction`, member[1]);
      }
    } else if (kind === "inline_function") {
      constraints.refuse(`${path}.config`, null, "not be null");
    }
    return toolSetting(tool as JsonValue);
  });
}

function readInline(constraints: Constraints, path: string, value: unknown): void {
  const { description, inputSchema } = constraints.structure(path, value);
  constraints.text(`${path}.description`, description, { least: 1, most: 4096 });
  constraints.structure(`${path}.inputSchema`, inputSchema);
}

function readAllowed(constraints: Constraints, value: unknown): string[] {
  return constraints.list("allowedTools", value).map((entry, number) =>
    constraints.text(`allowedTools.${number + 1}.member`, entry, {
      least: 1,
      most: 64,
      pattern: "(\\*|@?[^/]+(/[^/]+)?)",
    }),
  );
}

const MODELS = [
  "bedrockModelConfig",
  "openAiModelConfig",
  "geminiModelConfig",
  "liteLlmModelConfig",
];

function readModel(constraints: Constraints, value: unknown): JsonValue {
  const member = constraints.union("model", value, MODELS);
  if (member !== null) {
    const [name, config] = member;
    const { modelId, maxTokens } = constraints.structure(`model.${name}`, config);
    constraints.text(`model.${name}.modelId`, modelId, { least: 1 });
    constraints.wholeNumber(`model.${name}.maxTokens`, maxTokens, 1);
  }
  return value as JsonValue;
}

function readSkills(constraints: Constraints, value: unknown): void {
  for (const [number, skill] of constraints.list("skills", value).entries()) {
    constraints.union(`skills.${number + 1}.member`, skill, ["path", "s3", "git", "awsSkills"]);
  }
}
