import { deriveWorkerSessionId } from "../../domain/workers/worker.ts";
import {
  openStoredSessions,
  type SessionRecord,
  type StoredSessions,
} from "../../bridge/stored-sessions.ts";
import { SpanlineError } from "../../domain/errors.ts";
import { PLAIN_STYLE, type Style } from "../../inspect/trace-style.ts";
import { createTerminal, type Terminal } from "../../platform/terminal/terminal.ts";
import { formatErrorMessage } from "../shared/error-message.ts";
import { resolveDataDirectory } from "../shared/flags/resolve-data-directory.ts";
import { suggestNames } from "../../text/suggest-name.ts";
import { createColorStyle } from "../shared/terminal/color-style.ts";
import type { CommandIo } from "../../platform/process/command-io.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

export interface SessionsFlags {
  readonly dataDir?: string;
}

export interface SessionsContext {
  readonly io: CommandIo;
  readonly directory: string;
  readonly sessions: StoredSessions;
  readonly terminal: Terminal;
  readonly style: Style;
}

/** Opens the sessions for reading, and turns errors of a command into messages and an exit code. */
export async function withSessionsContext(
  { dataDir }: SessionsFlags,
  io: CommandIo,
  command: (run: SessionsContext) => Promise<number>,
): Promise<number> {
  const terminal = createTerminal(io);
  const style = terminal.hasColours ? createColorStyle() : PLAIN_STYLE;
  let sessions: StoredSessions | undefined;
  try {
    const directory = resolveDataDirectory(dataDir, io, (line) => terminal.note(`${line}\n`));
    sessions = await openStoredSessions(directory);
    return await command({ io, directory, sessions, terminal, style });
  } catch (error) {
    terminal.note(
      `${formatErrorMessage(error, { nextStep: suggestNextStep, findFlag: (path) => OPTION_FLAGS.get(path) })}\n`,
    );
    return error instanceof SpanlineError && USAGE_ERROR_CODES.has(error.code) ? 2 : 1;
  } finally {
    await sessions?.close();
  }
}

/** Finds a session by id; "latest" is the session changed last. Throws `not_found` with similar ids. */
export async function findSession(
  reference: string,
  { sessions, directory }: SessionsContext,
): Promise<SessionRecord> {
  const { sessions: newest } = await sessions.listSessions({ limit: MAX_COMPARED, parent: null });
  const session =
    reference === "latest" ? newest[0] : await sessions.findSession(readSessionId(reference));
  if (session !== undefined) return session;
  const names = newest.map(({ sessionId }) => sessionId);
  const where = `in ${directory}`;
  const message =
    reference === "latest"
      ? `No session exists ${where}`
      : formatUnknownName("Session", reference, { names, isListed: false, where });
  const details = { near: suggestNames(reference, names) };
  throw new SpanlineError("not_found", message, { details });
}

/** Reads the session id of a reference in an update of a worker, such as `spanline://sessions/ses_1`. */
function readSessionId(reference: string): string {
  const [, sessionId, workerId] =
    /^spanline:\/\/sessions\/([^/]+)(?:\/workers\/([^/]+))?$/.exec(reference) ?? [];
  return workerId === undefined ? (sessionId ?? reference) : deriveWorkerSessionId(workerId);
}

const MAX_COMPARED = 1000;

const USAGE_ERROR_CODES: ReadonlySet<string> = new Set([
  "invalid_option",
  "not_found",
  "cursor_ahead",
  "cursor_gone",
  "unreadable_input",
  "store_failed",
]);

const OPTION_FLAGS: ReadonlyMap<string, string> = new Map([["page", "--page"]]);

function suggestNextStep({ code, details }: SpanlineError): string | undefined {
  if (code === "cursor_ahead" || code === "cursor_gone") {
    return "Fix: omit --from for new events only, or use --from 0 for the whole log.";
  }
  if (code !== "not_found") return undefined;
  // The session exists; the approval does not.
  if (details["sessionId"] !== undefined)
    return "Fix: see the sessions that wait with `spanline sessions list`.";
  return details["directory"] === undefined
    ? "Fix: list the sessions with `spanline sessions list`, or set --data-dir."
    : "Fix: start a session with `spanline up`, or set --data-dir.";
}
