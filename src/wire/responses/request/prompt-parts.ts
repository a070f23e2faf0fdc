import type { PromptOptions } from "../../../domain/agent-event.ts";
import type { GivenPart } from "../../../domain/session-command.ts";
import { describedTool } from "../tool-description.ts";
import { nameMeant } from "../tool-name.ts";
import type { CreateRequest } from "./create-request.ts";
import type { ContentPart } from "./input-item.ts";
import { wrongField } from "./refusal.ts";

/** New content as a session takes it. Whether its agent takes pictures, the session knows. */
export function givenParts(content: readonly ContentPart[]): readonly GivenPart[] {
  return content.map((part) => {
    if (part.type === "text") return { type: "text", text: part.text };
    if (part.type === "image") return part.image;
    throw unsupportedContent(part);
  });
}

export function unsupportedContent(part: ContentPart): Error {
  const what = part.type === "unsupported" ? part.what : part.type;
  return wrongField(
    part.path,
    `is ${what}, which no agent here takes; send text`,
    "unsupported_content",
  );
}

/** What a request asks of its turn. `agentTools` are the agent's own, whose names may be others on the wire. */
export function promptOptionsOf(
  { tools, toolChoice, maxOutputTokens, maxToolCalls }: CreateRequest,
  {
    instructions,
    agentTools,
  }: {
    readonly instructions: string | null;
    readonly agentTools: readonly string[];
  },
): PromptOptions {
  const allowed = allowedIn(toolChoice);
  const names = [...tools.map(({ name }) => name), ...agentTools];
  return {
    ...(instructions !== null && { instructions }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        name,
        description: describedTool(name, description),
        schema: parameters ?? { type: "object" },
      })),
    }),
    ...(allowed !== null && { allowedTools: allowed.map((name) => nameMeant(name, names)) }),
    ...(maxOutputTokens !== null && { maxOutputTokens }),
    ...(maxToolCalls !== null && { maxToolCalls }),
  };
}

/** Which field of a request a part of the command came from that was made of it. */
export function fieldOfCommand(path: string): string | undefined {
  return COMMAND_FIELDS.get(path);
}

const COMMAND_FIELDS: ReadonlyMap<string, string> = new Map([
  ["content", "input"],
  ["results", "input"],
  // All else in a note is short.
  ["note", "instructions"],
  ["options.instructions", "instructions"],
  ["options.tools", "tools"],
  ["options.allowedTools", "tool_choice"],
  ["options.maxOutputTokens", "max_output_tokens"],
  ["options.maxToolCalls", "max_tool_calls"],
]);

/** Null where any tool may be called. */
function allowedIn(choice: CreateRequest["toolChoice"]): readonly string[] | null {
  if (choice === "none") return [];
  if (typeof choice === "string") return null;
  if ("tool" in choice) return [choice.tool];
  return choice.mode === "none" ? [] : choice.allowed;
}
