import {
  BRIDGE_COMMANDS,
  describeUnknownCommand,
  isBridgeCommand,
  expandCommandPrompt,
  type AgentCommand,
} from "../../domain/slash-commands.ts";

/** A command as the composer offers it. */
export type CommandOption = Pick<AgentCommand, "name" | "description" | "hint">;

/** Starts a worker. Only the portal has this command; a command of the agent with the same name hides it. */
export const DELEGATE_COMMAND = {
  name: "delegate",
  description: "Start a worker with a task",
  hint: "TASK",
} as const;

/** The commands which run without the agent. */
export function listBuiltInCommands(
  agentCommands: readonly AgentCommand[],
): readonly ((typeof BRIDGE_COMMANDS)[number] | typeof DELEGATE_COMMAND)[] {
  const isHidden = agentCommands.some(({ name }) => name === DELEGATE_COMMAND.name);
  return isHidden ? BRIDGE_COMMANDS : [...BRIDGE_COMMANDS, DELEGATE_COMMAND];
}

/** The commands of the bridge, then the commands of the agent. `canDelegate`: the session may start workers. */
export function listCommands(
  agentCommands: readonly AgentCommand[],
  canDelegate: boolean,
): readonly CommandOption[] {
  const builtIn = listBuiltInCommands(agentCommands);
  return [
    ...(canDelegate ? builtIn : BRIDGE_COMMANDS),
    ...agentCommands.filter(({ name }) => !isBridgeCommand(name)),
  ];
}

/** Lists the commands whose name starts with the typed letters, until the first space. */
export function completeCommand(
  text: string,
  commands: readonly CommandOption[],
): readonly CommandOption[] {
  const [, typed] = /^\/([^\s/]*)$/.exec(text) ?? [];
  if (typed === undefined) return [];
  const start = typed.toLowerCase();
  return commands
    .filter(({ name }) => name.toLowerCase().startsWith(start) && name !== typed)
    .slice(0, MAX_COMPLETIONS);
}

const MAX_COMPLETIONS = 12;

/** The text with a completed command. A command with arguments ends in a space. */
export function applyCompletion({ name, hint }: CommandOption): string {
  return hint === undefined ? `/${name}` : `/${name} `;
}

/** The command at the start of the text, and its arguments. Undefined for any other text. */
export function findCommand<Option extends CommandOption>(
  text: string,
  commands: readonly Option[],
): { readonly command: Option; readonly argument: string } | undefined {
  const [, name, argument = ""] = /^\/([^\s/]+)(?:\s+([^]*))?$/.exec(text) ?? [];
  const command = commands.find((one) => one.name === name);
  return command === undefined ? undefined : { command, argument: argument.trim() };
}

export type CommandText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: string };

/** Replaces a command of the agent by its prompt. A mistyped command is refused; any other text is unchanged. */
export function expandCommandText(
  text: string,
  commands: readonly AgentCommand[],
  canDelegate: boolean,
): CommandText {
  const found = findCommand(text, commands);
  if (found !== undefined)
    return { ok: true, text: expandCommandPrompt(found.command, found.argument) };
  const names = listCommands(commands, canDelegate).map(({ name }) => name);
  const problem = describeUnknownCommand(text, names);
  return problem === undefined ? { ok: true, text } : { ok: false, problem };
}
