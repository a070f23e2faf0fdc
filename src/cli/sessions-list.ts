import type { SessionRecord } from "../bridge/stored-sessions.ts";
import { prettyJson } from "../inspect/pretty-json.ts";
import { oneLine } from "../inspect/style.ts";
import { systemClock } from "../platform/clock.ts";
import { runSessions, type SessionsFlags } from "./sessions-run.ts";

export interface ListFlags extends SessionsFlags {
  readonly search?: string;
  readonly agent?: string;
  readonly limit: number;
  readonly page?: string;
  readonly json?: true;
}

export async function listCommand(flags: ListFlags): Promise<number> {
  return runSessions(flags, async ({ sessions, terminal, directory }) => {
    const { limit, page, search, agent, json } = flags;
    const found = await sessions.sessions({
      limit,
      ...(page !== undefined && { page }),
      ...(search !== undefined && { search }),
      ...(agent !== undefined && { agent }),
    });
    if (json === true) {
      await terminal.write(`${prettyJson(found)}\n`);
      return 0;
    }
    if (found.sessions.length === 0) {
      const isFiltered = search !== undefined || agent !== undefined;
      terminal.note(`${isFiltered ? "Nothing fits" : "There are no sessions"} in ${directory}\n`);
      return 0;
    }
    await terminal.write(tableText(found.sessions, systemClock.now()));
    if (found.nextPage !== undefined) terminal.note(`\nmore with --page ${found.nextPage}\n`);
    return 0;
  });
}

function tableText(sessions: readonly SessionRecord[], now: number): string {
  // Of one's own machine there is nothing to say.
  const hasOthers = sessions.some(({ principal }) => principal !== "local");
  const whose = (name: string): string[] => (hasOthers ? [name] : []);
  const rows = [
    ["SESSION", "STATE", "AGENT", ...whose("PRINCIPAL"), "CHANGED", "EVENTS", "TITLE"],
    ...sessions.map(({ sessionId, state, agent, principal, updatedAt, seq, title }) => {
      const age = ageText(now - updatedAt);
      return [sessionId, state, agent, ...whose(principal), age, String(seq), title ?? "-"].map(
        cell,
      );
    }),
  ];
  const widths = (rows[0] ?? []).map((_, at) =>
    Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (row: readonly string[]): string =>
    row
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd();
  return `${rows.map(line).join("\n")}\n`;
}

function cell(text: string): string {
  const shown = oneLine(text);
  return shown.length > MOST_SHOWN ? `${shown.slice(0, MOST_SHOWN - 1)}…` : shown;
}

const MOST_SHOWN = 60;

/** How long ago, in the largest unit that says something. */
function ageText(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  if (seconds < 10) return "just now";
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? ["s", 1];
  return `${Math.floor(seconds / size)} ${unit} ago`;
}

const UNITS: readonly (readonly [unit: string, seconds: number])[] = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
];
