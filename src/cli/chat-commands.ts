import type { SeenCommand, SessionRow } from "../host/index.ts";
import { oneLine, type Style } from "../inspect/style.ts";
import { foldedWords } from "./folded-words.ts";
import { cut } from "./markdown/text-width.ts";

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
  const row = (name: string, does: string): string =>
    `  ${style.strong(`/${oneLine(name)}`.padEnd(NAME_WIDTH))} ${oneLine(does)}`;
  const theirs = commands.map(({ name, description, hint }) =>
    row(hint === undefined ? name : `${name} ${hint}`, description),
  );
  const rows = [
    ...Object.entries(OWN).map(([name, does]) => row(name, does)),
    ...(theirs.length === 0 ? [] : ["The agent's own:", ...theirs]),
    style.dim("  Ctrl-C cancels a turn, Ctrl-D leaves."),
    style.dim("  A line that ends with \\ goes on in the next."),
  ];
  return rows.flatMap((one) => foldedWords(one, width));
}

const NAME_WIDTH = 11;
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
  return sessions.slice(0, MOST_SESSIONS).flatMap(({ sessionId, title, updatedAt }) => {
    const sign = sessionId === own ? style.good("*") : " ";
    const when = oneLine((updatedAt ?? "").replace("T", " ").slice(0, 16));
    const row = `${sign} ${oneLine(sessionId)}  ${style.dim(when)}`;
    const called = oneLine(title ?? "");
    // The id, the time and what stands between them.
    const room = width - sessionId.length - when.length - 6;
    if (room >= LEAST_TITLE) return [`${row}  ${cut(called, room)}`.trimEnd()];
    return [`${sign} ${oneLine(sessionId)}`, `  ${style.dim(cut(`${when} ${called}`, width - 2))}`];
  });
}

const LEAST_TITLE = 15;
const MOST_SESSIONS = 20;
