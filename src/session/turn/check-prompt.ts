import type { AgentSpec, ProviderCapabilities } from "../../domain/agent-spec.ts";
import { BUDGET_UNITS } from "../../domain/budget.ts";
import { type PromptOptions, type PromptPart, formatImagePart } from "../../domain/prompt.ts";
import { isObject, toJsonText, type JsonObject } from "../../data/json.ts";
import type { CommandReply } from "../../domain/session-command.ts";
import { refuse } from "../refuse-command.ts";
import { resolveImageHandling } from "../turn-options.ts";

type RefusedReply = CommandReply & { readonly status: "refused" };

const MAX_NOTE_BYTES = 256 * 1024;
const MAX_PROMPT_TOOLS = 128;
const MAX_TOOLS_BYTES = 1024 * 1024;
const MAX_INSTRUCTIONS_BYTES = 1024 * 1024;
const MAX_ALLOWED_TOOLS = 256;
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** Server tools have longer names, such as `@server/tool`. Patterns are not allowed. */
const ALLOWED_NAME = /^[^\s*]{1,64}$/;

/** Refuses empty content, and images if the agent does not accept them. Undefined if the content is acceptable. */
export function checkContent(
  content: readonly PromptPart[],
  agent: AgentSpec,
): RefusedReply | undefined {
  const pictures = content.filter(({ type }) => type === "image");
  if (pictures.length > 0 && resolveImageHandling(agent) === "reject") return refuseImages(agent);
  const hasText = content.some((part) => part.type === "image" || part.text.trim() !== "");
  return hasText ? undefined : refuseField("The prompt is empty. Fix: add some text", "content");
}

function refuseImages({ name }: AgentSpec): RefusedReply {
  const message = `${name} does not accept images. Fix: describe the image as text, or set images to "describe"`;
  return refuseField(message, "content");
}

export function checkNote(note: JsonObject | undefined): RefusedReply | undefined {
  if (note === undefined || countJsonBytes(note) <= MAX_NOTE_BYTES) return undefined;
  return refuseField(
    `The note has more than ${MAX_NOTE_BYTES} bytes. Fix: make it smaller`,
    "note",
  );
}

/** Refuses options which the provider cannot apply, and invalid values. Undefined if the options are acceptable. */
export function checkOptions(
  options: PromptOptions | undefined,
  agent: AgentSpec,
): RefusedReply | undefined {
  if (options === undefined) return undefined;
  const lost = CAPABILITY_OPTIONS.find((name) =>
    isUnsupported(options, name, agent.provider.capabilities ?? {}),
  );
  if (lost !== undefined) {
    const message = `${agent.name} does not accept ${lost} with a prompt: its provider does not support it`;
    return refuse("invalid_option", message, { path: `options.${lost}` });
  }
  return (
    checkPromptTools(options, agent) ??
    checkPromptLimits(options) ??
    checkBudget(options.budget, agent)
  );
}

const CAPABILITY_OPTIONS = ["tools", "allowedTools", "maxOutputTokens"] as const;

function isUnsupported(
  options: PromptOptions,
  name: (typeof CAPABILITY_OPTIONS)[number],
  capabilities: ProviderCapabilities,
): boolean {
  const value = options[name];
  const isPresent = value !== undefined && (name !== "tools" || options.tools?.length !== 0);
  return isPresent && capabilities[name] !== true;
}

function checkPromptTools(
  { tools = [], allowedTools = [] }: PromptOptions,
  agent: AgentSpec,
): RefusedReply | undefined {
  if (tools.length > MAX_PROMPT_TOOLS) {
    return refuseTool(`A prompt has at most ${MAX_PROMPT_TOOLS} tools`);
  }
  const names = new Set<string>();
  for (const { name, description, schema } of tools) {
    if (!TOOL_NAME.test(name)) {
      return refuseTool(`A tool's name has 1 to 64 letters, digits, "_" and "-"`);
    }
    if (names.has(name)) return refuseTool(`Two tools of the prompt have the name ${name}`);
    if (agent.tools.some((tool) => tool.name === name)) {
      return refuseTool(`The agent already has a tool ${name}. Fix: use another name`);
    }
    if (typeof description !== "string" || !isObject(schema)) {
      return refuseTool(`The tool ${name} needs a description and a JSON Schema of type object`);
    }
    names.add(name);
  }
  if (countJsonBytes(tools) > MAX_TOOLS_BYTES) {
    return refuseTool(`The tools of the prompt have more than ${MAX_TOOLS_BYTES} bytes`);
  }
  const isNamed = allowedTools.every((name) => ALLOWED_NAME.test(name));
  if (isNamed && allowedTools.length <= MAX_ALLOWED_TOOLS) return undefined;
  const message = `allowedTools has at most ${MAX_ALLOWED_TOOLS} tool names, and no patterns`;
  return refuse("invalid_option", message, { path: "options.allowedTools" });
}

function checkPromptLimits(options: PromptOptions): RefusedReply | undefined {
  const { instructions = "", maxOutputTokens = 1, maxToolCalls = 0, approvalMs = 1 } = options;
  if (countJsonBytes(instructions) > MAX_INSTRUCTIONS_BYTES) {
    return refuseField(
      `The instructions have more than ${MAX_INSTRUCTIONS_BYTES} bytes`,
      "options.instructions",
    );
  }
  const limits = { maxOutputTokens, approvalMs, maxToolCalls: maxToolCalls + 1 };
  for (const [name, value] of Object.entries(limits)) {
    if (Number.isSafeInteger(value) && value > 0) continue;
    const least = name === "maxToolCalls" ? 0 : 1;
    const message = `${name} is not valid: expected an integer of at least ${least}`;
    return refuse("invalid_option", message, { path: `options.${name}` });
  }
  return undefined;
}

function checkBudget(
  budget: PromptOptions["budget"],
  { name, budgets }: AgentSpec,
): RefusedReply | undefined {
  if (budget?.usd !== undefined && budgets?.prices === undefined) {
    const message = `${name} has no prices, so a budget in US dollars cannot be checked. Fix: configure budgets.prices, or use tokens`;
    return refuse("invalid_option", message, { path: "options.budget.usd" });
  }
  for (const [unit, cap] of Object.entries(budget ?? {})) {
    const path = `options.budget.${unit}`;
    if (!BUDGET_UNITS.some((known) => known === unit)) {
      const message = `${unit} is not a unit of a budget: expected ${BUDGET_UNITS.join(", ")}`;
      return refuse("invalid_option", message, { path });
    }
    if (Number.isFinite(cap) && cap > 0) continue;
    const message = `The budget of ${unit} is not valid: expected a number above 0`;
    return refuse("invalid_option", message, { path });
  }
  return undefined;
}

export function countJsonBytes(value: unknown): number {
  return new TextEncoder().encode(toJsonText(value)).length;
}

function refuseField(message: string, path: string): RefusedReply {
  return refuse("invalid_message", message, { path });
}

function refuseTool(message: string): RefusedReply {
  return refuse("invalid_tool", message, { path: "options.tools" });
}

/** Refuses a prompt whose sender does not know the latest prompt: its reply would refer to another message. */
export function checkPromptPosition(
  { expectedPromptSeq }: { readonly expectedPromptSeq?: number },
  { submittedPrompts }: { readonly submittedPrompts: readonly { readonly seq: number }[] },
): CommandReply | undefined {
  if (expectedPromptSeq === undefined || submittedPrompts.at(-1)?.seq === expectedPromptSeq)
    return undefined;
  return refuse("conflict", "A later prompt exists. Fix: continue from the last response", {
    reason: "gone_on",
  });
}

/** Replaces images by a text note if the agent does not accept images. */
export function describeHiddenImages(
  content: readonly PromptPart[],
  agent: AgentSpec,
): PromptPart[] {
  const hasImages = content.some(({ type }) => type === "image");
  if (!hasImages || resolveImageHandling(agent) === "send") return [...content];
  return content.map((part) =>
    part.type === "image" ? { type: "text", text: formatImagePart(part) } : part,
  );
}
