import { stat } from "node:fs/promises";
import { join } from "node:path";
import { SpanlineError } from "../domain/errors.ts";
import type { Store } from "../store/store.ts";
import { openSqliteStore } from "../store/sqlite/open-sqlite-store.ts";
import { directoryProblem } from "./data-directory.ts";

export type { SessionRecord } from "../store/store.ts";

/** The sessions of a directory for somebody who only reads. */
export type StoredSessions = Pick<
  Store,
  "sessions" | "session" | "read" | "head" | "subscribe" | "close"
>;

/** Opens them beside whoever runs them, if anybody does. */
export async function openStoredSessions(directory: string): Promise<StoredSessions> {
  const file = join(directory, "sessions.db");
  try {
    await stat(file);
  } catch (error) {
    // Only this says that there are none; anything else that they cannot be seen.
    const isNone = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isNone) throw await directoryProblem("read", directory, error);
    const message = `There are no sessions in ${directory} yet`;
    throw new SpanlineError("not_found", message, { details: { directory } });
  }
  return openSqliteStore({ file, readOnly: true });
}
