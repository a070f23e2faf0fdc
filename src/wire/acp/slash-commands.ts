import { commandPrompt, type AgentCommand } from "../../domain/agent-command.ts";
import { BRIDGE_COMMANDS } from "../../domain/bridge-commands.ts";
import type { PromptCommand } from "./client-request.ts";
import { firstThatFit, LINE_BYTES, LINE_MARGIN, MOST_ESCAPED, pieces } from "./fitted.ts";
import type { ChunkUpdate, CommandsUpdate } from "./session-update.ts";

/** What people can type in a session. */
export function commandsUpdate(commands: readonly AgentCommand[] = []): CommandsUpdate {
  const all: readonly ListedCommand[] = [...BRIDGE_COMMANDS, ...commands];
  const listed = all.map(({ name, description, hint }) => ({
    name,
    description,
    ...(hint !== undefined && { input: { hint } }),
  }));
  const availableCommands = firstThatFit(listed, LINE_BYTES - LINE_MARGIN);
  return { sessionUpdate: "available_commands_update", availableCommands };
}

type ListedCommand = Pick<AgentCommand, "name" | "description" | "hint">;

/** What the bridge says to a command of its own, in lines that have room. */
export function commandAnswer(requestId: string, text: string): readonly ChunkUpdate[] {
  const characters = Math.floor((LINE_BYTES - LINE_MARGIN) / MOST_ESCAPED);
  return Array.from(pieces(text, characters), (piece) => ({
    sessionUpdate: "agent_message_chunk",
    messageId: `command_${requestId}`,
    content: { type: "text", text: piece },
  }));
}

/** A command that somebody typed. */
export interface SlashCommand {
  readonly name: string;
  /** What followed it. */
  readonly given: string;
}

/** The command that a prompt begins with. What is none goes to the agent as it is. */
export function slashCommand({ content }: PromptCommand): SlashCommand | undefined {
  const [first] = content;
  if (first?.type !== "text") return undefined;
  const [, name, given = ""] = /^\/([^\s/]+)(?:\s+([^]*))?$/.exec(first.text) ?? [];
  return name === undefined ? undefined : { name, given: given.trim() };
}

/** The prompt that a command of the agent's stands for; what stood beside it stays. */
export function commandedPrompt(
  prompt: PromptCommand,
  command: AgentCommand,
  { given }: SlashCommand,
): PromptCommand {
  const [, ...rest] = prompt.content;
  const text = commandPrompt(command, given);
  return { ...prompt, content: [{ type: "text", text }, ...rest] };
}
