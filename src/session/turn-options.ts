import type { AgentFacts, ImageHandling, PromptOptions } from "../domain/agent-event.ts";
import type { OfferedTool } from "../providers/provider.ts";

/** Whether a turn with these options may call a tool, whosever it is. */
export function isAllowedBy(options: PromptOptions | null, name: string): boolean {
  return options?.allowedTools?.includes(name) ?? true;
}

/** A tool of whoever prompted. */
export function isPromptTool(options: PromptOptions | null, name: string): boolean {
  return options?.tools?.some((tool) => tool.name === name) ?? false;
}

/** What the agent can call in this turn and runs on our side. An agent that got a tool of the same name since has it later. */
export function offeredTools(
  { tools }: Pick<AgentFacts, "tools">,
  options: PromptOptions | null,
): OfferedTool[] {
  const own = tools.filter(({ name }) => !isPromptTool(options, name));
  return [...own, ...(options?.tools ?? [])]
    .filter(({ name }) => isAllowedBy(options, name))
    .map(({ name, description, schema }) => ({ name, description, schema }));
}

/** How many calls of tools the turn may start. */
export function toolCallsIn({ caps }: AgentFacts, options: PromptOptions | null): number {
  return Math.min(caps.toolCalls, options?.maxToolCalls ?? Infinity);
}

/** For the model, of a call that its turn does not allow. */
export function notAllowed(name: string, { allowedTools = [] }: PromptOptions): string {
  const known = allowedTools.join(", ");
  return `${name} was not run: it may not be called in this turn. There is: ${known || "none"}.`;
}

export function imageHandling({ images, provider }: AgentFacts): ImageHandling {
  return images ?? (provider.takes?.images === true ? "send" : "reject");
}
