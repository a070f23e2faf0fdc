import type { PromptOptions } from "../../../domain/prompt.ts";
import type { SubmittedPart } from "../../../domain/session-command.ts";
import { describeTool, findToolName } from "../tool-name.ts";
import type { CreateRequest } from "./create-request.ts";
import type { ContentPart } from "./input-item.ts";
import { createFieldError } from "./request-error.ts";

/** Converts new content to the parts of a prompt. The session checks whether its agent supports images. */
export function toPromptParts(content: readonly ContentPart[]): readonly SubmittedPart[] {
  return content.map((part) => {
    if (part.type === "text") return { type: "text", text: part.text };
    if (part.type === "image") return part.image;
    throw createUnsupportedContentError(part);
  });
}

export function createUnsupportedContentError(part: ContentPart): Error {
  const kind = part.type === "unsupported" ? part.kind : part.type;
  return createFieldError(
    part.path,
    `is ${kind}, which is not supported; send text`,
    "unsupported_content",
  );
}

/** Returns the prompt options set by a request. `agentTools` are the agent's tools, whose wire names may differ. */
export function toPromptOptions(
  { tools, toolChoice, maxOutputTokens, maxToolCalls, budget }: CreateRequest,
  {
    instructions,
    agentTools,
  }: {
    readonly instructions: string | null;
    readonly agentTools: readonly string[];
  },
): PromptOptions {
  const allowed = listAllowedTools(toolChoice);
  const names = [...tools.map(({ name }) => name), ...agentTools];
  return {
    ...(instructions !== null && { instructions }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        name,
        description: describeTool(name, description),
        schema: parameters ?? { type: "object" },
      })),
    }),
    ...(allowed !== null && { allowedTools: allowed.map((name) => findToolName(name, names)) }),
    ...(maxOutputTokens !== null && { maxOutputTokens }),
    ...(maxToolCalls !== null && { maxToolCalls }),
    ...(budget !== null && { budget }),
  };
}

/** Maps the path of a command field to the request field it came from, for error messages. */
export function resolveRequestField(path: string): string | undefined {
  return FIELDS_BY_PATH.get(path);
}

const FIELDS_BY_PATH: ReadonlyMap<string, string> = new Map([
  ["content", "input"],
  ["results", "input"],
  // Other values in a note are short, so only the instructions can exceed its limit.
  ["note", "instructions"],
  ["options.instructions", "instructions"],
  ["options.tools", "tools"],
  ["options.allowedTools", "tool_choice"],
  ["options.maxOutputTokens", "max_output_tokens"],
  ["options.maxToolCalls", "max_tool_calls"],
]);

/** Null if all tools are allowed. */
function listAllowedTools(choice: CreateRequest["toolChoice"]): readonly string[] | null {
  if (choice === "none") return [];
  if (typeof choice === "string") return null;
  if ("tool" in choice) return [choice.tool];
  return choice.mode === "none" ? [] : choice.allowed;
}
