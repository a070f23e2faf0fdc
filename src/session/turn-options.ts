import type { AgentSpec, ImageHandling } from "../domain/agent-spec.ts";
import type { PromptOptions } from "../domain/prompt.ts";
import type { OfferedTool } from "../providers/provider.ts";

/** Whether a turn with these options may call a tool, whosever it is. */
export function isToolAllowed(options: PromptOptions | null, name: string): boolean {
  return options?.allowedTools?.includes(name) ?? true;
}

/** A tool of whoever prompted. */
export function isPromptTool(options: PromptOptions | null, name: string): boolean {
  return options?.tools?.some((tool) => tool.name === name) ?? false;
}

/** What the agent can call in this turn and runs on our side. An agent that got a tool of the same name since has it later. */
export function listOfferedTools(
  { tools }: Pick<AgentSpec, "tools">,
  options: PromptOptions | null,
): OfferedTool[] {
  const agentTools = tools.filter(({ name }) => !isPromptTool(options, name));
  return [...agentTools, ...(options?.tools ?? [])]
    .filter(({ name }) => isToolAllowed(options, name))
    .map(({ name, description, schema }) => ({ name, description, schema }));
}

/** How many calls of tools the turn may start. */
export function resolveToolCallLimit({ caps }: AgentSpec, options: PromptOptions | null): number {
  return Math.min(caps.toolCalls, options?.maxToolCalls ?? Infinity);
}

/** For the model, of a call that its turn does not allow. */
export function formatToolNotAllowed(name: string, { allowedTools = [] }: PromptOptions): string {
  const allowedNames = allowedTools.join(", ");
  return `${name} was not run: it may not be called in this turn. There is: ${allowedNames || "none"}.`;
}

export function resolveImageHandling({ images, provider }: AgentSpec): ImageHandling {
  return images ?? (provider.capabilities?.images === true ? "send" : "reject");
}
