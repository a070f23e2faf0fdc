import { stat } from "node:fs/promises";
import { join } from "node:path";
import { SpanlineError } from "../domain/errors.ts";
import { findInspectedEnd, formatLogProblem } from "../store/log-problem.ts";
import type { InspectedEvent } from "../store/log-store.ts";
import type { Store } from "../store/store.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { createDirectoryError } from "./owner/data-directory.ts";
import { omitUndefined } from "../data/omit-undefined.ts";

export type { InspectedEvent } from "../store/log-store.ts";
export type { SessionRecord } from "../store/session-index.ts";

/** Read-only access to the sessions of a directory. */
export type StoredSessions = Pick<
  Store,
  | "listSessions"
  | "findSession"
  | "inspect"
  | "readHead"
  | "readSnapshot"
  | "readPage"
  | "listRecords"
  | "readBlob"
  | "subscribe"
  | "checkIntegrity"
  | "measureSize"
  | "close"
>;

/**
 * Opens the sessions for reading, also while another process runs them. Throws `not_found` if the directory has no
 * sessions.
 */
export async function openStoredSessions(directory: string): Promise<StoredSessions> {
  const file = join(directory, "sessions.db");
  try {
    await stat(file);
  } catch (error) {
    // Only ENOENT means no sessions; other errors mean that the sessions cannot be read.
    const isNone = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isNone) throw await createDirectoryError("read", directory, error);
    const message = `No sessions exist in ${directory} yet`;
    throw new SpanlineError("not_found", message, { details: { directory } });
  }
  return openSqliteStore({ file, readOnly: true });
}

/** One position of a log, with its problem. */
export interface StoredEntry {
  readonly examined: InspectedEvent;
  /** Undefined if the event is readable. */
  readonly problem?: string;
}

/** Reads the whole log of a session. Damaged, newer and missing events are included and do not end the iteration. */
export async function* readStoredLog(
  sessions: Pick<StoredSessions, "inspect">,
  sessionId: string,
): AsyncGenerator<StoredEntry, void, undefined> {
  for (let after = 0; ;) {
    const page = await sessions.inspect(sessionId, after, PAGE_SIZE);
    for (const examined of page) {
      const problem = formatLogProblem(examined);
      yield { examined, ...omitUndefined({ problem }) };
    }
    const end = findInspectedEnd(page);
    if (end === undefined || page.length < PAGE_SIZE) return;
    after = end;
  }
}

const PAGE_SIZE = 500;
