import type { AgentSpec, ImageHandling } from "../domain/agent-spec.ts";
import type { PromptOptions } from "../domain/prompt.ts";

/** Whether a turn with these options may call a tool, of the agent or of the prompter. */
export function isToolAllowed(options: PromptOptions | null, name: string): boolean {
  return options?.allowedTools?.includes(name) ?? true;
}

/** Whether the prompter brought this tool. */
export function isPromptTool(options: PromptOptions | null, name: string): boolean {
  return options?.tools?.some((tool) => tool.name === name) ?? false;
}

/** Maximum number of tool calls the turn may start. */
export function resolveToolCallLimit({ caps }: AgentSpec, options: PromptOptions | null): number {
  return Math.min(caps.toolCalls, options?.maxToolCalls ?? Infinity);
}

/** Tells the model that the turn does not allow a tool call. */
export function formatToolNotAllowed(name: string, { allowedTools = [] }: PromptOptions): string {
  const allowedNames = allowedTools.join(", ");
  return `${name} was not run: it may not be called in this turn. Available tools: ${allowedNames || "none"}.`;
}

export function resolveImageHandling({ images, provider }: AgentSpec): ImageHandling {
  return images ?? (provider.capabilities?.images === true ? "send" : "reject");
}
