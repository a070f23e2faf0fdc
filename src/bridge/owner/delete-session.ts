import { join } from "node:path";
import type { OwnerLock } from "../../store/sqlite/file/owner-lock.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import type { BridgeOptions } from "../bridge-options.ts";
import { OwnerGoneError } from "../../session/remote/owner-connection.ts";
import type { RemoteSessions } from "../../session/remote/remote-sessions.ts";
import { lockOrJoin } from "./lock-or-join.ts";

/**
 * Deletes a session where it is run, or here when nobody runs it; false when there was none. Nothing is run here, and
 * nobody can join: whoever comes meanwhile waits.
 */
export async function deleteSession(
  sessionId: string,
  options: Pick<BridgeOptions, "directory" | "version" | "clock" | "onWaiting">,
): Promise<boolean> {
  const { signal } = new AbortController();
  for (;;) {
    const lockOrOwner = await lockOrJoin({ ...options, signal });
    if (lockOrOwner.lock !== undefined)
      return deleteLocally(sessionId, options.directory, lockOrOwner.lock);
    const isDeleted = await deleteViaOwner(sessionId, lockOrOwner.sessions);
    if (isDeleted !== undefined) return isDeleted;
  }
}

async function deleteLocally(
  sessionId: string,
  directory: string,
  { release }: OwnerLock,
): Promise<boolean> {
  try {
    const store = await openSqliteStore({ file: join(directory, "sessions.db") });
    try {
      return await store.deleteSession(sessionId);
    } finally {
      await store.close();
    }
  } finally {
    release();
  }
}

/** Undefined when the owner went before it said. */
async function deleteViaOwner(
  sessionId: string,
  sessions: RemoteSessions,
): Promise<boolean | undefined> {
  try {
    return await sessions.delete(sessionId);
  } catch (error) {
    if (error instanceof OwnerGoneError) return undefined;
    throw error;
  } finally {
    sessions.close();
  }
}
