import type { SeenCommand, SessionRow } from "../host/index.ts";
import { oneLine, type Style } from "../inspect/style.ts";
import { foldedWords } from "./folded-words.ts";
import { wrapped } from "./markdown/row-layout.ts";
import { cut, textWidth } from "./markdown/text-width.ts";

/** What a chat itself understands behind a slash. All else is said to the agent. */
const OWN_COMMANDS = ["help", "exit", "takeover", "cancel", "sessions"] as const;

export type OwnCommand = (typeof OWN_COMMANDS)[number];

export function ownCommandIn(text: string): OwnCommand | undefined {
  const [, name] = /^\/(\S+)\s*$/.exec(text) ?? [];
  return name === "quit" ? "exit" : OWN_COMMANDS.find((one) => one === name);
}

/** What a word behind a slash may become. It goes to the terminal as it is, so that names which would steer that are none. */
export function completions(word: string, theirs: readonly SeenCommand[]): string[] {
  return [...OWN_COMMANDS, ...theirs.map(({ name }) => name)]
    .map((name) => `/${name}`)
    .filter((name) => name.startsWith(word) && name === oneLine(name));
}

export function helpRows(
  commands: readonly SeenCommand[],
  { style, width }: { readonly style: Style; readonly width: number },
): string[] {
  const own = Object.entries(OWN).map(([name, does]) => ({ name: `/${name}`, does }));
  const theirs = commands.map(({ name, description, hint }) => ({
    name: oneLine(hint === undefined ? `/${name}` : `/${name} ${hint}`),
    does: oneLine(description),
  }));
  const widths = [...own, ...theirs].map(({ name }) => textWidth(name));
  const most = Math.min(WIDEST_NAME, width / 2);
  const column = Math.max(0, ...widths.filter((one) => one <= most));
  const rows = ({ name, does }: { readonly name: string; readonly does: string }): string[] => {
    const [first = "", ...others] = wrapped(does, width - column - 4);
    const isWide = textWidth(name) > column;
    const below = (isWide ? [first, ...others] : others).map((row) => " ".repeat(column + 4) + row);
    const pad = " ".repeat(Math.max(0, column - textWidth(name)));
    return isWide
      ? [...foldedWords(`  ${style.strong(name)}`, width), ...below]
      : [`  ${style.strong(name)}${pad}  ${first}`.trimEnd(), ...below];
  };
  const notes = [
    "  Ctrl-C cancels a turn, Ctrl-D leaves.",
    "  A line that ends with \\ goes on in the next.",
  ];
  return [
    ...own.flatMap(rows),
    ...(theirs.length === 0 ? [] : ["The agent's own:", ...theirs.flatMap(rows)]),
    ...notes.flatMap((one) => foldedWords(style.dim(one), width)),
  ];
}

/** What a command that is longer does stands below it. */
const WIDEST_NAME = 24;
const OWN: { readonly [Name in OwnCommand]: string } = {
  help: "shows this",
  cancel: "ends the turn that runs",
  takeover: "takes control from whoever has it",
  sessions: "lists the sessions, the newest first",
  exit: "leaves; the session stays",
};

export function sessionRows(
  sessions: readonly SessionRow[],
  own: string,
  { style, width }: { readonly style: Style; readonly width: number },
): readonly string[] {
  const rows = sessions.slice(0, MOST_SESSIONS).flatMap(({ sessionId, title, updatedAt }) => {
    const sign = sessionId === own ? style.good("*") : " ";
    const when = oneLine((updatedAt ?? "").replace("T", " ").slice(0, 16));
    const row = `${sign} ${oneLine(sessionId)}  ${style.dim(when)}`;
    const called = oneLine(title ?? "");
    // The id, the time and what stands between them.
    const room = width - sessionId.length - when.length - 6;
    if (room >= LEAST_TITLE) return [`${row}  ${cut(called, room)}`.trimEnd()];
    return [`${sign} ${oneLine(sessionId)}`, `  ${style.dim(cut(`${when} ${called}`, width - 2))}`];
  });
  return [...rows, ...foldedWords(style.dim(OTHER_SESSION), width)];
}

const OTHER_SESSION = "  To go to another one, /exit, then `spanline chat --session ID`.";
const LEAST_TITLE = 15;
const MOST_SESSIONS = 20;
