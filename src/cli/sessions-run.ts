import {
  openStoredSessions,
  type SessionRecord,
  type StoredSessions,
} from "../bridge/stored-sessions.ts";
import { SpanlineError } from "../domain/errors.ts";
import { PLAIN, type Style } from "../inspect/style.ts";
import { processTerminal, type Terminal } from "../platform/terminal.ts";
import { complaint } from "./complaint.ts";
import { dataDirectory } from "./data-directory.ts";
import { nearNames } from "../domain/near-names.ts";
import { coloured } from "./style.ts";

export interface SessionsFlags {
  readonly dataDir?: string;
}

export interface SessionsRun {
  readonly directory: string;
  readonly sessions: StoredSessions;
  readonly terminal: Terminal;
  readonly style: Style;
}

/** Opens the sessions for reading, and turns whatever comes of a command into an exit code and words for people. */
export async function runSessions(
  { dataDir }: SessionsFlags,
  command: (run: SessionsRun) => Promise<number>,
): Promise<number> {
  const terminal = processTerminal();
  const style = terminal.colours ? coloured() : PLAIN;
  let sessions: StoredSessions | undefined;
  try {
    const directory = dataDirectory(dataDir, (line) => terminal.note(`${line}\n`));
    sessions = await openStoredSessions(directory);
    return await command({ directory, sessions, terminal, style });
  } catch (error) {
    terminal.note(`${complaint(error, { nextStep, flagFor: (path) => FLAGS.get(path) })}\n`);
    return error instanceof SpanlineError && UNUSABLE.has(error.code) ? 2 : 1;
  } finally {
    await sessions?.close();
  }
}

/** The session of an id, or the one that changed last. */
export async function findSession(
  reference: string,
  { sessions, directory }: SessionsRun,
): Promise<SessionRecord> {
  const { sessions: newest } = await sessions.sessions({ limit: MOST_COMPARED });
  const found = reference === "latest" ? newest[0] : await sessions.session(reference);
  if (found !== undefined) return found;
  const near = nearNames(
    reference,
    newest.map(({ sessionId }) => sessionId),
  );
  const where = `in ${directory}`;
  const message =
    reference === "latest"
      ? `There is no session ${where}`
      : `There is no session ${reference} ${where}`;
  throw new SpanlineError("not_found", message, { details: { near } });
}

const MOST_COMPARED = 1000;

const UNUSABLE: ReadonlySet<string> = new Set([
  "invalid_option",
  "not_found",
  "cursor_ahead",
  "cursor_gone",
  "unreadable_input",
  "store_failed",
]);

const FLAGS: ReadonlyMap<string, string> = new Map([["page", "--page"]]);

function nextStep({ code, details }: SpanlineError): string | undefined {
  if (code === "cursor_ahead" || code === "cursor_gone") {
    return "Leave out --from for what comes, or say --from 0 for all that is kept.";
  }
  if (code !== "not_found") return undefined;
  const near = Array.isArray(details["near"]) ? details["near"].join(", ") : "";
  if (near !== "") return `Did you mean ${near}?`;
  // The session was found.
  if (details["sessionId"] !== undefined) return "`spanline sessions list` shows which ones wait.";
  return details["directory"] === undefined
    ? "`spanline sessions list` shows what there is; --data-dir says where to look."
    : "`spanline up` begins one; --data-dir says where else to look.";
}
