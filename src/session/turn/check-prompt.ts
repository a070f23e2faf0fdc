import type { AgentFacts, PromptOptions, PromptPart, Takes } from "../../domain/agent-event.ts";
import { isObject, jsonText, type JsonObject } from "../../domain/json.ts";
import type { CommandReply } from "../../domain/session-command.ts";
import { refused } from "../refused.ts";
import { imageHandling } from "../turn-options.ts";

type Refusal = CommandReply & { readonly status: "refused" };

const MAX_NOTE_BYTES = 256 * 1024;
const MAX_PROMPT_TOOLS = 128;
const MAX_TOOLS_BYTES = 1024 * 1024;
const MAX_INSTRUCTIONS_BYTES = 1024 * 1024;
const MAX_ALLOWED = 256;
const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
/** Those of the other side have longer names, such as `@server/tool`. A pattern is none. */
const ALLOWED_NAME = /^[^\s*]{1,64}$/;

/** Undefined where there is nothing to say against it. */
export function problemWithContent(
  content: readonly PromptPart[],
  agent: AgentFacts,
): Refusal | undefined {
  const pictures = content.filter(({ type }) => type === "image");
  if (pictures.length > 0 && imageHandling(agent) === "reject") return noPictures(agent);
  const isSaid = content.some((part) => part.type === "image" || part.text.trim() !== "");
  return isSaid ? undefined : wrong("The prompt is empty; say something", "content");
}

function noPictures({ name }: AgentFacts): Refusal {
  const message = `${name} takes no pictures; say it in words, or set images to "describe"`;
  return wrong(message, "content");
}

export function problemWithNote(note: JsonObject | undefined): Refusal | undefined {
  if (note === undefined || bytesOf(note) <= MAX_NOTE_BYTES) return undefined;
  return wrong(`The note has more than ${MAX_NOTE_BYTES} bytes; make it smaller`, "note");
}

/** What would be lost, or could not be kept to, is refused. */
export function problemWithOptions(
  options: PromptOptions | undefined,
  agent: AgentFacts,
): Refusal | undefined {
  if (options === undefined) return undefined;
  const lost = TAKEN.find((name) => isLost(options, name, agent.provider.takes ?? {}));
  if (lost !== undefined) {
    const message = `${agent.name} takes no ${lost} with a prompt: its provider has no way to tell it`;
    return refused("invalid_option", message, { path: `options.${lost}` });
  }
  return problemWithTools(options, agent) ?? problemWithLimits(options);
}

const TAKEN = ["tools", "allowedTools", "maxOutputTokens"] as const;

function isLost(options: PromptOptions, name: (typeof TAKEN)[number], takes: Takes): boolean {
  const given = options[name];
  const isGiven = given !== undefined && (name !== "tools" || options.tools?.length !== 0);
  return isGiven && takes[name] !== true;
}

function problemWithTools(
  { tools = [], allowedTools = [] }: PromptOptions,
  agent: AgentFacts,
): Refusal | undefined {
  if (tools.length > MAX_PROMPT_TOOLS) {
    return badTool(`A prompt brings at most ${MAX_PROMPT_TOOLS} tools; this one has more`);
  }
  const names = new Set<string>();
  for (const { name, description, schema } of tools) {
    if (!TOOL_NAME.test(name)) {
      return badTool(`A tool's name has 1 to 64 letters, digits, "_" and "-"`);
    }
    if (names.has(name)) return badTool(`Two tools of the prompt are called ${name}`);
    if (agent.tools.some((tool) => tool.name === name)) {
      return badTool(`The agent has a tool ${name} of its own; call yours something else`);
    }
    if (typeof description !== "string" || !isObject(schema)) {
      return badTool(`The tool ${name} needs a description and the JSON Schema of an object`);
    }
    names.add(name);
  }
  if (bytesOf(tools) > MAX_TOOLS_BYTES) {
    return badTool(`The tools of the prompt have more than ${MAX_TOOLS_BYTES} bytes`);
  }
  const isNamed = allowedTools.every((name) => ALLOWED_NAME.test(name));
  if (isNamed && allowedTools.length <= MAX_ALLOWED) return undefined;
  const message = `allowedTools takes at most ${MAX_ALLOWED} names of tools, and no patterns`;
  return refused("invalid_option", message, { path: "options.allowedTools" });
}

function problemWithLimits(options: PromptOptions): Refusal | undefined {
  const { instructions = "", maxOutputTokens = 1, maxToolCalls = 0, approvalMs = 1 } = options;
  if (bytesOf(instructions) > MAX_INSTRUCTIONS_BYTES) {
    return wrong(
      `The instructions have more than ${MAX_INSTRUCTIONS_BYTES} bytes`,
      "options.instructions",
    );
  }
  const limits = { maxOutputTokens, approvalMs, maxToolCalls: maxToolCalls + 1 };
  for (const [name, value] of Object.entries(limits)) {
    if (Number.isSafeInteger(value) && value > 0) continue;
    const least = name === "maxToolCalls" ? 0 : 1;
    const message = `${name} is not a whole number of at least ${least}`;
    return refused("invalid_option", message, { path: `options.${name}` });
  }
  return undefined;
}

export function bytesOf(value: unknown): number {
  return new TextEncoder().encode(jsonText(value)).length;
}

function wrong(message: string, path: string): Refusal {
  return refused("invalid_message", message, { path });
}

function badTool(message: string): Refusal {
  return refused("invalid_tool", message, { path: "options.tools" });
}

/** Whoever goes on from something that is no longer the last would be answered to something else. */
export function problemWithPlace(
  { after }: { readonly after?: number },
  { asked }: { readonly asked: readonly { readonly seq: number }[] },
): CommandReply | undefined {
  if (after === undefined || asked.at(-1)?.seq === after) return undefined;
  return refused("conflict", "Something was asked since; go on from the last answer", {
    reason: "gone_on",
  });
}
