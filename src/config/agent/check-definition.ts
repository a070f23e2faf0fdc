import { isObject } from "../../data/json.ts";
import {
  anything,
  array,
  object,
  oneOf,
  optional,
  refine,
  string,
  withDefault,
  type Schema,
} from "../../data/schema-reader.ts";
import { throwInvalid, throwProblem } from "../../data/schema-error.ts";
import { formatValue } from "../../text/format-value.ts";
import { readOptions } from "../../domain/option-reader.ts";
import { ASK_USER_TOOL } from "../../domain/question.ts";
import { WORKER_TOOLS } from "../../domain/workers/worker.ts";
import { UPDATE_PLAN_TOOL } from "../../domain/outputs/harn-plan.ts";
import { RUNTIME_TOOLS } from "../../domain/tools/runtime-tools.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { createSettingsShape, refuseTwoRuleSets } from "./agent-settings.ts";
import type { Tool } from "../../tools/tool.ts";

/** Throws `invalid_option` for a definition with invalid, contradictory or unknown settings. */
export function checkDefinition(value: unknown): void {
  readOptions(DEFINITION_SCHEMA, value, "");
}

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

const TOOL_NAMES: Schema<readonly string[]> = refine(
  array((value, path) => {
    if (!isTool(value))
      return throwInvalid({ path, value, expected: "a tool", fix: "create it with defineTool" });
    const { name } = value.spec;
    return TOOL_NAME.test(name)
      ? name
      : throwProblem(
          path,
          `is named ${formatValue(name)}: expected 1 to 64 letters, digits, _ and -`,
        );
  }),
  (names, path) => {
    const repeated = names.find((name, at) => names.indexOf(name) !== at);
    if (repeated !== undefined)
      throwProblem(path, `has two tools named ${repeated}`, "rename one of them");
    return names;
  },
);

const TOOLS_SCHEMA = object(
  {
    tools: withDefault(TOOL_NAMES, []),
    askUser: anything,
    runtimeTools: anything,
    workers: anything,
  },
  { otherNames: "ignore", expected: "the definition of an agent" },
);

const DEFINITION_SCHEMA: Schema<void> = (value, path) => {
  const { tools: named, askUser, runtimeTools, workers } = TOOLS_SCHEMA(value, path);
  const appTools: readonly string[] = named;
  const askTools = askUser === undefined || askUser === false ? [] : [ASK_USER_TOOL];
  const emitTools = listNamedTools(runtimeTools);
  const workerTools = workers === undefined || workers === false ? [] : WORKER_TOOLS;
  const added: { readonly [setting: string]: readonly string[] } = {
    askUser: askTools,
    runtimeTools: emitTools,
    workers: workerTools,
  };
  for (const [setting, names] of Object.entries(added)) {
    const taken = names.find((name) => name !== UPDATE_PLAN_TOOL && appTools.includes(name));
    if (taken !== undefined)
      throwProblem(setting, `adds a tool named ${taken}, which exists`, "rename the tool");
  }
  const tools = [...new Set([...appTools, ...askTools, ...emitTools, ...workerTools])];
  const shape: { readonly [Name in keyof AgentDefinition]-?: Schema<unknown> } = {
    name: string({
      pattern: /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,63}$/,
      expected: "1 to 64 letters, digits, _, . and -",
    }),
    provider: PROVIDER_SCHEMA,
    tools: anything,
    policy: optional(POLICY_SCHEMA),
    workspace: anything,
    mutationScope: optional(oneOf(["read_only", "apply_workspace"])),
    mcp: anything,
    ...createSettingsShape(tools),
  };
  const definition = object({ ...shape, provider: PROVIDER_SCHEMA })(value, path);
  refuseTwoRuleSets(definition, path);
  checkProviderSettings(definition);
};

/** The tools which the setting adds. An invalid setting is reported later, by its schema. */
function listNamedTools(setting: unknown): readonly string[] {
  const names: readonly unknown[] = Array.isArray(setting) ? setting : [];
  return RUNTIME_TOOLS.filter((name) => setting === true || names.includes(name));
}

function checkProviderSettings({
  provider,
  images,
  onLost,
}: {
  readonly provider: ProviderTraits;
  readonly images?: unknown;
  readonly onLost?: unknown;
}): void {
  if (images === "send" && !provider.takesImages) {
    const expected = `describe or reject, since ${provider.name} does not accept images`;
    throwInvalid({ path: "images", value: images, expected });
  }
  if (onLost === "resend" && !provider.effectFree) {
    const expected = `ask, continue or reseed, since invocations of ${provider.name} have effects and are never repeated`;
    throwInvalid({ path: "onLost", value: onLost, expected });
  }
}

interface ProviderTraits {
  readonly name: string;
  readonly effectFree: boolean;
  readonly takesImages: boolean;
}

const PROVIDER_SCHEMA: Schema<ProviderTraits> = (value, path) => {
  const { name, injectionPoints, effectFree, open, capabilities } = isObject(value) ? value : {};
  const takesImages = isObject(capabilities) && capabilities["images"] === true;
  const isProvider =
    typeof name === "string" &&
    Array.isArray(injectionPoints) &&
    typeof effectFree === "boolean" &&
    typeof open === "function";
  if (isProvider) return { name, effectFree, takesImages };
  return throwInvalid({
    path,
    value,
    expected: "a provider",
    fix: 'create one with harnessProvider, runtimeProvider or localProvider of "spanline/providers"',
  });
};

const POLICY_SCHEMA: Schema<unknown> = (value, path) =>
  isObject(value) && Array.isArray(value["layers"])
    ? value
    : throwInvalid({ path, value, expected: "a policy", fix: "create it with definePolicy" });

/** Checks the structure instead of the class, because a tool may come from another copy of this package. */
export function isTool(value: unknown): value is Tool {
  if (!isObject(value) || !isObject(value["spec"])) return false;
  return (
    typeof value["spec"]["name"] === "string" &&
    typeof value["check"] === "function" &&
    typeof value["run"] === "function"
  );
}
