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

/** The sessions of a directory for somebody who only reads. */
export type StoredSessions = Pick<
  Store,
  | "listSessions"
  | "findSession"
  | "inspect"
  | "readHead"
  | "readBlob"
  | "subscribe"
  | "checkIntegrity"
  | "measureSize"
  | "close"
>;

/** Opens them beside whoever runs them, if anybody does. */
export async function openStoredSessions(directory: string): Promise<StoredSessions> {
  const file = join(directory, "sessions.db");
  try {
    await stat(file);
  } catch (error) {
    // Only this says that there are none; anything else that they cannot be seen.
    const isNone = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isNone) throw await createDirectoryError("read", directory, error);
    const message = `There are no sessions in ${directory} yet`;
    throw new SpanlineError("not_found", message, { details: { directory } });
  }
  return openSqliteStore({ file, readOnly: true });
}

/** One place of a log, with what is wrong there. */
export interface StoredEntry {
  readonly examined: InspectedEvent;
  /** Absent if the event can be read. */
  readonly problem?: string;
}

/** The whole log of a session as it is now. Damaged, newer and missing events are part of it and do not end it. */
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
