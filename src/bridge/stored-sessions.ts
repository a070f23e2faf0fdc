import { existsSync } from "node:fs";
import { join } from "node:path";
import { SpanlineError } from "../domain/errors.ts";
import type { Store } from "../store/store.ts";
import { openSqliteStore } from "../store/sqlite/open-sqlite-store.ts";

export type { SessionRecord } from "../store/store.ts";

/** The sessions of a directory for somebody who only reads. */
export type StoredSessions = Pick<
  Store,
  "sessions" | "session" | "read" | "head" | "subscribe" | "close"
>;

/** Opens them beside whoever runs them, if anybody does. */
export async function openStoredSessions(directory: string): Promise<StoredSessions> {
  const file = join(directory, "sessions.db");
  if (!existsSync(file)) {
    const message = `There are no sessions in ${directory} yet`;
    throw new SpanlineError("not_found", message, { details: { directory } });
  }
  return openSqliteStore({ file, readOnly: true });
}
