import { join } from "node:path";
import type { OwnerLock } from "../../store/sqlite/file/owner-lock.ts";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.ts";
import type { BridgeOptions } from "../bridge-options.ts";
import { OwnerGoneError } from "../../session/remote/owner-connection.ts";
import type { RemoteSessions } from "../../session/remote/remote-sessions.ts";
import { lockOrJoin } from "./lock-or-join.ts";

/**
 * Deletes a session through its owner, or directly if no process owns the directory. Returns false if the session does
 * not exist. A direct deletion holds the lock without running sessions, so other processes wait.
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

/** Undefined if the owner ended before its reply. */
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
