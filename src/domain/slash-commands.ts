import { SESSION_MODES } from "./session-mode.ts";
import { suggestFix, formatUnknownName } from "../text/unknown-name.ts";

/** Slash commands which the bridge handles itself, without the agent. */
export const BRIDGE_COMMANDS = [
  { name: "status", description: "Show the session, its agent, mode, tokens and clients" },
  { name: "tools", description: "List the tools of the agent and how the policy treats each" },
  {
    name: "mode",
    description: "Show the mode of the session, or change it",
    hint: SESSION_MODES.join(" | "),
  },
  {
    name: "permissions",
    description: "List permanent grants, or revoke one",
    hint: "revoke ID",
  },
  {
    name: "compact",
    description: "Replace the older part of the conversation by a summary",
    hint: "INSTRUCTIONS",
  },
] as const;

export type BridgeCommand = (typeof BRIDGE_COMMANDS)[number]["name"];

export function isBridgeCommand(name: string): name is BridgeCommand {
  return BRIDGE_COMMANDS.some((command) => command.name === name);
}

/** A slash command defined in the configuration: users type `/name` and the agent receives `prompt`. */
export interface AgentCommand {
  readonly name: string;
  readonly description: string;
  /** Describes the arguments to users, such as `BRANCH`. */
  readonly hint?: string;
  /**
   * Sent to the agent. The arguments replace `$ARGUMENTS`; without the placeholder they are appended after a blank
   * line.
   */
  readonly prompt: string;
}

/** Returns the prompt text of a command with its arguments filled in. */
export function expandCommandPrompt({ prompt }: AgentCommand, args: string): string {
  // A replacer function, because a replacement string would interpret `$&` and similar patterns in the arguments.
  if (prompt.includes(ARGUMENTS_PLACEHOLDER))
    return prompt.replaceAll(ARGUMENTS_PLACEHOLDER, () => args);
  return args === "" ? prompt : `${prompt}\n\n${args}`;
}

const ARGUMENTS_PLACEHOLDER = "$ARGUMENTS";

/**
 * Returns an error message for a prompt which is a mistyped command, such as `/staus`; undefined for text to send to
 * the agent. A single word is a command. A word followed by text counts as a command only if its name is close to a
 * known name: `/data is full` is about a folder.
 */
export function describeUnknownCommand(text: string, names: readonly string[]): string | undefined {
  const [, name, argument] = COMMAND.exec(text) ?? [];
  if (name === undefined || names.includes(name) || ROOT_FOLDERS.has(name)) return undefined;
  if (argument !== undefined && suggestFix(name, names) === undefined) return undefined;
  const known = names.map((known) => `/${known}`);
  const message = formatUnknownName("Command", `/${name}`, { names: known });
  return `${message}${message.endsWith("?") ? "" : "."} ${NOT_SENT}`;
}

/** A path has a second slash, and a file name usually has a dot: neither is a command. */
const COMMAND = /^\/([A-Za-z][\w-]*)(?:\s+(\S[^]*))?\s*$/;
const NOT_SENT =
  "Nothing was sent to the agent. To send the text as it is, put a space before the slash.";

/** Folders at the root of Linux and macOS. */
const ROOT_FOLDERS: ReadonlySet<string> = new Set(
  "bin boot dev etc home lib lib64 media mnt opt proc root run sbin srv sys tmp usr var Applications Library System Users Volumes private".split(
    " ",
  ),
);
