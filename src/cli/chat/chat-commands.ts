import type { AvailableCommand, PendingInjection, SessionRow } from "../../host/index.ts";
import { describeUnknownCommand } from "../../domain/slash-commands.ts";
import { toSingleLine, type Style } from "../../inspect/trace-style.ts";
import { wrapWords } from "../shared/terminal/wrap-words.ts";
import { wrapText } from "../markdown/row-layout.ts";
import { cutToWidth, measureText } from "../markdown/text-width.ts";

/** The chat's own commands, with the placeholder of their argument. The bridge handles all others. */
const CHAT_COMMANDS = {
  help: { does: "shows this help" },
  steer: { argument: "TEXT", does: "sends a message to the running turn, like a line without /" },
  queue: { argument: "TEXT", does: "sends a message for a turn after the running one" },
  pending: { does: "lists the messages and reminders that the agent has not received" },
  edit: { argument: "N TEXT", does: "changes a message of /pending" },
  revoke: { argument: "N", does: "revokes an entry of /pending" },
  remind: { argument: "TEXT", does: "adds a note to the next request to the model" },
  workers: { optional: "ID", does: "lists the workers of this session, or of one worker" },
  delegate: { argument: "TASK", does: "starts a worker in the background" },
  trigger: { argument: "WORKER TEXT", does: "gives the next task to a worker that waits" },
  close: { argument: "WORKER", does: "ends a worker, also during its work" },
  resume: { does: "wakes an agent that stays available between turns" },
  skip: { does: "stops the tool call that started last; the turn continues" },
  cancel: { does: "cancels the running turn" },
  takeover: { does: "takes control of the session" },
  sessions: { does: "lists the sessions, newest first" },
  exit: { does: "leaves; the session is kept" },
} as const;

type ChatCommandName = keyof typeof CHAT_COMMANDS;

export interface ChatCommand {
  readonly name: ChatCommandName;
  /** Empty for a command without an argument. */
  readonly argument: string;
}

const COMMAND_NAMES = Object.keys(CHAT_COMMANDS);

function isChatCommandName(name: string): name is ChatCommandName {
  return Object.hasOwn(CHAT_COMMANDS, name);
}

function readArgumentName(name: ChatCommandName): string | undefined {
  const command = CHAT_COMMANDS[name];
  return "argument" in command ? command.argument : undefined;
}

function isOptional(name: ChatCommandName): boolean {
  return "optional" in CHAT_COMMANDS[name];
}

/** Returns undefined for other text, and for a command with a missing or an additional argument. */
export function parseChatCommand(text: string): ChatCommand | undefined {
  const [, typed = "", argument = ""] = /^\/(\S+)\s*([^]*)$/.exec(text.trimEnd()) ?? [];
  const name = typed === "quit" ? "exit" : typed;
  if (!isChatCommandName(name)) return undefined;
  const needsArgument = readArgumentName(name) !== undefined;
  const isValid = isOptional(name) || needsArgument === (argument !== "");
  return isValid ? { name, argument } : undefined;
}

/**
 * Returns the message for a mistyped command. Undefined for text for the bridge. Before the bridge's commands are
 * known, all text goes to the bridge, which also checks for mistyped commands.
 */
export function describeMistypedCommand(
  text: string,
  bridgeCommands: readonly AvailableCommand[],
): string | undefined {
  const [, name] = /^\/(\S+)/.exec(text) ?? [];
  if (name !== undefined && isChatCommandName(name)) {
    const argument = readArgumentName(name);
    const rule =
      argument === undefined ? "takes no arguments" : `needs an argument: /${name} ${argument}`;
    return `/${name} ${rule}. Nothing was sent to the agent.`;
  }
  if (bridgeCommands.length === 0) return undefined;
  // The names are printed, so names with control characters are left out.
  const bridgeNames = bridgeCommands
    .map((command) => command.name)
    .filter((bridgeName) => bridgeName === toSingleLine(bridgeName));
  return describeUnknownCommand(text, [...bridgeNames, ...COMMAND_NAMES]);
}

/** Completes a word after a slash. Names are printed unchanged, so names with control characters are excluded. */
export function completeCommand(
  word: string,
  agentCommands: readonly AvailableCommand[],
): string[] {
  return [...COMMAND_NAMES, ...agentCommands.map(({ name }) => name)]
    .map((name) => `/${name}`)
    .filter((name) => name.startsWith(word) && name === toSingleLine(name));
}

export function formatHelp(
  commands: readonly AvailableCommand[],
  { style, width }: { readonly style: Style; readonly width: number },
): string[] {
  const chatCommands = Object.entries(CHAT_COMMANDS).map(([name, command]) => ({
    name: `/${name}${formatArgument(command)}`,
    does: command.does,
  }));
  const theirs = commands.map(({ name, description, hint }) => ({
    name: toSingleLine(hint === undefined ? `/${name}` : `/${name} ${hint}`),
    does: toSingleLine(description),
  }));
  const widths = [...chatCommands, ...theirs].map(({ name }) => measureText(name));
  const maxNameWidth = Math.min(MAX_NAME_WIDTH, width / 2);
  const column = Math.max(0, ...widths.filter((one) => one <= maxNameWidth));
  const rows = ({ name, does }: { readonly name: string; readonly does: string }): string[] => {
    const [first = "", ...others] = wrapText(does, width - column - 4);
    const isWide = measureText(name) > column;
    const below = (isWide ? [first, ...others] : others).map((row) => " ".repeat(column + 4) + row);
    const pad = " ".repeat(Math.max(0, column - measureText(name)));
    return isWide
      ? [...wrapWords(`  ${style.strong(name)}`, width), ...below]
      : [`  ${style.strong(name)}${pad}  ${first}`.trimEnd(), ...below];
  };
  const notes = [
    "  Ctrl-C cancels a turn, Ctrl-D leaves.",
    "  A line that ends with \\ continues on the next line.",
  ];
  return [
    ...chatCommands.flatMap(rows),
    ...(theirs.length === 0 ? [] : ["Commands of the agent:", ...theirs.flatMap(rows)]),
    ...notes.flatMap((one) => wrapWords(style.dim(one), width)),
  ];
}

function formatArgument(command: (typeof CHAT_COMMANDS)[ChatCommandName]): string {
  if ("optional" in command) return ` [${command.optional}]`;
  return "argument" in command ? ` ${command.argument}` : "";
}

/** Columns. Longer names have their description on the next row. */
const MAX_NAME_WIDTH = 24;

/** Formats the pending messages and reminders, with the numbers for `/revoke`. */
export function formatPending(
  pending: readonly PendingInjection[],
  { style, width }: { readonly style: Style; readonly width: number },
): readonly string[] {
  if (pending.length === 0) return [style.dim("Nothing is pending.")];
  return pending.map((entry, index) => {
    const kind = entry.kind === "user" ? entry.mode : "reminder";
    const text = toSingleLine(entry.kind === "user" ? entry.text : entry.body);
    return cutToWidth(`${index + 1}. ${style.strong(kind)}  ${text}`, width);
  });
}

export function formatSessions(
  sessions: readonly SessionRow[],
  currentSessionId: string,
  { style, width }: { readonly style: Style; readonly width: number },
): readonly string[] {
  const rows = sessions.slice(0, MAX_SESSIONS).flatMap((session) => {
    const sessionId = toSingleLine(session.sessionId);
    const sign = session.sessionId === currentSessionId ? style.good("*") : " ";
    const when = toSingleLine((session.updatedAt ?? "").replace("T", " ").slice(0, 16));
    const facts = `${when}  ${(session.state ?? "").padEnd(STATE_WIDTH)}`;
    const title = toSingleLine(session.title ?? "");
    // The width without the id, the facts and the spaces between them.
    const available = width - sessionId.length - facts.length - 6;
    if (available >= MIN_TITLE_WIDTH)
      return [
        `${sign} ${sessionId}  ${style.dim(facts)}  ${cutToWidth(title, available)}`.trimEnd(),
      ];
    const details = [when, session.state ?? "", title].filter(Boolean).join("  ");
    return [`${sign} ${sessionId}`, `  ${style.dim(cutToWidth(details, width - 2))}`];
  });
  return [...rows, ...wrapWords(style.dim(OTHER_SESSION_HINT), width)];
}

const OTHER_SESSION_HINT = "  To open another one: /exit, then `spanline chat --session ID`.";
const MIN_TITLE_WIDTH = 15;
/** The length of the longest state: `running` and `waiting`. */
const STATE_WIDTH = 7;
const MAX_SESSIONS = 20;
