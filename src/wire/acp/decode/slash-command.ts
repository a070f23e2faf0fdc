import {
  expandCommandPrompt,
  type AgentCommand,
  BRIDGE_COMMANDS,
} from "../../../domain/slash-commands.ts";
import type { PromptCommand } from "./client-request.ts";
import {
  takeFitting,
  DEFAULT_LINE_BYTES,
  LINE_MARGIN,
  MAX_ESCAPED_BYTES,
  splitText,
} from "../fit-json.ts";
import type { ChunkUpdate, CommandsUpdate } from "../encode/acp-session-update.ts";

/** Lists the slash commands of a session: the bridge's and the agent's, as many as fit into a line. */
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

/** Encodes the output of a bridge command as message chunks, each within the line limit. */
export function createCommandReply(requestId: string, text: string): readonly ChunkUpdate[] {
  const characters = Math.floor((DEFAULT_LINE_BYTES - LINE_MARGIN) / MAX_ESCAPED_BYTES);
  return Array.from(splitText(text, characters), (piece) => ({
    sessionUpdate: "agent_message_chunk",
    messageId: `command_${requestId}`,
    content: { type: "text", text: piece },
  }));
}

/** A slash command in a prompt. */
export interface SlashCommand {
  readonly name: string;
  /** The text after the command name, trimmed. Empty if there is none. */
  readonly argument: string;
}

/**
 * Parses the slash command at the start of a prompt. Returns undefined for any other prompt, which goes to the agent
 * unchanged.
 */
export function parseSlashCommand({ content }: PromptCommand): SlashCommand | undefined {
  const [first] = content;
  if (first?.type !== "text") return undefined;
  const [, name, argument = ""] = /^\/([^\s/]+)(?:\s+([^]*))?$/.exec(first.text) ?? [];
  return name === undefined ? undefined : { name, argument: argument.trim() };
}

/** Replaces the command at the start of a prompt by the command's prompt text. The other blocks of the prompt stay. */
export function expandCommand(
  prompt: PromptCommand,
  command: AgentCommand,
  { argument }: SlashCommand,
): PromptCommand {
  const [, ...rest] = prompt.content;
  const text = expandCommandPrompt(command, argument);
  return { ...prompt, content: [{ type: "text", text }, ...rest] };
}
