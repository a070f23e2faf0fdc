import type { AvailableCommand, SessionRow } from "../../host/index.ts";
import { describeUnknownCommand } from "../../domain/unknown-command.ts";
import { toSingleLine, type Style } from "../../inspect/trace-style.ts";
import { wrapWords } from "../shared/terminal/wrap-words.ts";
import { wrapText } from "../markdown/row-layout.ts";
import { cutToWidth, measureText } from "../markdown/text-width.ts";

/** The chat's own commands. The bridge handles all others. */
const CHAT_COMMANDS = ["help", "exit", "takeover", "cancel", "sessions"] as const;

export type ChatCommand = (typeof CHAT_COMMANDS)[number];

export function parseChatCommand(text: string): ChatCommand | undefined {
  const [, name] = /^\/(\S+)\s*$/.exec(text) ?? [];
  return name === "quit" ? "exit" : CHAT_COMMANDS.find((command) => command === name);
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
  if (CHAT_COMMANDS.some((command) => command === name)) {
    return `/${name} takes no arguments. Nothing was sent to the agent.`;
  }
  if (bridgeCommands.length === 0) return undefined;
  // The names are printed, so names with control characters are left out.
  const bridgeNames = bridgeCommands
    .map((command) => command.name)
    .filter((bridgeName) => bridgeName === toSingleLine(bridgeName));
  return describeUnknownCommand(text, [...bridgeNames, ...CHAT_COMMANDS]);
}

/** Completes a word after a slash. Names are printed unchanged, so names with control characters are excluded. */
export function completeCommand(
  word: string,
  agentCommands: readonly AvailableCommand[],
): string[] {
  return [...CHAT_COMMANDS, ...agentCommands.map(({ name }) => name)]
    .map((name) => `/${name}`)
    .filter((name) => name.startsWith(word) && name === toSingleLine(name));
}

export function formatHelp(
  commands: readonly AvailableCommand[],
  { style, width }: { readonly style: Style; readonly width: number },
): string[] {
  const chatCommands = Object.entries(CHAT_COMMAND_HELP).map(([name, does]) => ({
    name: `/${name}`,
    does,
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

/** Columns. Longer names have their description on the next row. */
const MAX_NAME_WIDTH = 24;
const CHAT_COMMAND_HELP: { readonly [Name in ChatCommand]: string } = {
  help: "shows this help",
  cancel: "cancels the running turn",
  takeover: "takes control of the session",
  sessions: "lists the sessions, newest first",
  exit: "leaves; the session is kept",
};

export function formatSessions(
  sessions: readonly SessionRow[],
  currentSessionId: string,
  { style, width }: { readonly style: Style; readonly width: number },
): readonly string[] {
  const rows = sessions.slice(0, MAX_SESSIONS).flatMap(({ sessionId, title, updatedAt }) => {
    const sign = sessionId === currentSessionId ? style.good("*") : " ";
    const when = toSingleLine((updatedAt ?? "").replace("T", " ").slice(0, 16));
    const row = `${sign} ${toSingleLine(sessionId)}  ${style.dim(when)}`;
    const called = toSingleLine(title ?? "");
    // The width without the id, the time and the spaces between them.
    const available = width - sessionId.length - when.length - 6;
    if (available >= MIN_TITLE_WIDTH) return [`${row}  ${cutToWidth(called, available)}`.trimEnd()];
    return [
      `${sign} ${toSingleLine(sessionId)}`,
      `  ${style.dim(cutToWidth(`${when} ${called}`, width - 2))}`,
    ];
  });
  return [...rows, ...wrapWords(style.dim(OTHER_SESSION_HINT), width)];
}

const OTHER_SESSION_HINT = "  To open another one: /exit, then `spanline chat --session ID`.";
const MIN_TITLE_WIDTH = 15;
const MAX_SESSIONS = 20;
