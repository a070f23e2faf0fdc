import { expandCommandPrompt, type AgentCommand } from "../../../domain/agent-command.ts";
import { BRIDGE_COMMANDS } from "../../../domain/bridge-commands.ts";
import type { PromptCommand } from "./client-request.ts";
import {
  takeFitting,
  DEFAULT_LINE_BYTES,
  LINE_MARGIN,
  MAX_ESCAPED_BYTES,
  splitText,
} from "../fit-json.ts";
import type { ChunkUpdate, CommandsUpdate } from "../encode/acp-session-update.ts";

/** What people can type in a session. */
export function createCommandsUpdate(commands: readonly AgentCommand[] = []): CommandsUpdate {
  const all: readonly ListedCommand[] = [...BRIDGE_COMMANDS, ...commands];
  const listed = all.map(({ name, description, hint }) => ({
    name,
    description,
    ...(hint !== undefined && { input: { hint } }),
  }));
  const availableCommands = takeFitting(listed, DEFAULT_LINE_BYTES - LINE_MARGIN);
  return { sessionUpdate: "available_commands_update", availableCommands };
}

type ListedCommand = Pick<AgentCommand, "name" | "description" | "hint">;

/** What the bridge says to a command of its own, in lines that have room. */
export function createCommandReply(requestId: string, text: string): readonly ChunkUpdate[] {
  const characters = Math.floor((DEFAULT_LINE_BYTES - LINE_MARGIN) / MAX_ESCAPED_BYTES);
  return Array.from(splitText(text, characters), (piece) => ({
    sessionUpdate: "agent_message_chunk",
    messageId: `command_${requestId}`,
    content: { type: "text", text: piece },
  }));
}

/** A command that somebody typed. */
export interface SlashCommand {
  readonly name: string;
  /** What followed it. */
  readonly argument: string;
}

/** The command that a prompt begins with. What is none goes to the agent as it is. */
export function parseSlashCommand({ content }: PromptCommand): SlashCommand | undefined {
  const [first] = content;
  if (first?.type !== "text") return undefined;
  const [, name, argument = ""] = /^\/([^\s/]+)(?:\s+([^]*))?$/.exec(first.text) ?? [];
  return name === undefined ? undefined : { name, argument: argument.trim() };
}

/** The prompt that a command of the agent's stands for; what stood beside it stays. */
export function expandCommand(
  prompt: PromptCommand,
  command: AgentCommand,
  { argument }: SlashCommand,
): PromptCommand {
  const [, ...rest] = prompt.content;
  const text = expandCommandPrompt(command, argument);
  return { ...prompt, content: [{ type: "text", text }, ...rest] };
}
