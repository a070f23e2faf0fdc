import type { SessionRecord } from "../../bridge/stored-sessions.ts";
import { formatPrettyJson } from "../../inspect/pretty-json.ts";
import { toSingleLine } from "../../inspect/trace-style.ts";
import { systemClock } from "../../platform/clock.ts";
import { withSessionsContext, type SessionsFlags } from "./sessions-context.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface ListFlags extends SessionsFlags {
  readonly search?: string;
  readonly agent?: string;
  readonly limit: number;
  readonly page?: string;
  readonly workers?: true;
  readonly json?: true;
}

export async function runSessionsList(flags: ListFlags, io: CommandIo): Promise<number> {
  return withSessionsContext(flags, io, async ({ sessions, terminal, directory }) => {
    const { limit, page, search, agent, json, workers } = flags;
    const result = await sessions.listSessions({
      limit,
      ...(workers !== true && { parent: null }),
      ...omitUndefined({ page, search, agent }),
    });
    if (json === true) {
      await terminal.write(`${formatPrettyJson(result)}\n`);
      return 0;
    }
    if (result.sessions.length === 0) {
      const isFiltered = search !== undefined || agent !== undefined;
      terminal.note(`${isFiltered ? "No session matches" : "No sessions exist"} in ${directory}\n`);
      return 0;
    }
    await terminal.write(formatTable(result.sessions, systemClock.now()));
    if (result.nextPage !== undefined) terminal.note(`\nNext page: --page ${result.nextPage}\n`);
    return 0;
  });
}

function formatTable(sessions: readonly SessionRecord[], now: number): string {
  // The principal column is omitted if all sessions belong to the local user.
  const hasOtherPrincipals = sessions.some(({ principal }) => principal !== "local");
  const principalColumn = (name: string): string[] => (hasOtherPrincipals ? [name] : []);
  const rows = [
    ["SESSION", "STATE", "AGENT", ...principalColumn("PRINCIPAL"), "CHANGED", "EVENTS", "TITLE"],
    ...sessions.map(({ sessionId, state, agent, principal, updatedAt, seq, title, lineage }) => {
      const mark = lineage === null ? "" : `${"  ".repeat(lineage.depth - 1)}⑂ `;
      const age = formatAge(now - updatedAt);
      return [
        sessionId,
        state,
        agent,
        ...principalColumn(principal),
        age,
        String(seq),
        `${mark}${title ?? "-"}`,
      ].map(formatCell);
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

function formatCell(text: string): string {
  const line = toSingleLine(text);
  return line.length > MAX_CELL_LENGTH ? `${line.slice(0, MAX_CELL_LENGTH - 1)}…` : line;
}

const MAX_CELL_LENGTH = 60;

/** Formats an age in the largest suitable unit. */
function formatAge(milliseconds: number): string {
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
