import type { Store } from "../../store/store.ts";
import type { Sessions } from "../sessions.ts";

interface DeleteContext {
  readonly store: Store;
  /** Stops the driver of a session. */
  readonly removeDriver: (sessionId: string) => Promise<void>;
  readonly sendTo: Sessions["command"];
}

/**
 * Deletes a session with the sessions of its workers. A worker whose own session is deleted is closed first: its parent
 * would otherwise open the session again.
 */
export async function deleteTree(
  sessionId: string,
  { store, removeDriver, sendTo }: DeleteContext,
): Promise<boolean> {
  const record = await store.findSession(sessionId);
  if (record === undefined) return false;
  const { lineage, principal: id } = record;
  if (lineage !== null) {
    const principal = { id, rights: ["control"] } as const;
    const { parentSessionId, workerId } = lineage;
    await sendTo(parentSessionId, { type: "close-worker", workerId }, { principal });
  }
  await removeDrivers(sessionId, { store, removeDriver });
  const isDeleted = await store.deleteSession(sessionId);
  await deleteReopened(sessionId, { store, removeDriver });
  return isDeleted;
}

/**
 * Deletes what a caller of the session has started meanwhile: a driver started again may have opened sessions of workers
 * after the deletion.
 */
async function deleteReopened(
  sessionId: string,
  { store, removeDriver }: Pick<DeleteContext, "store" | "removeDriver">,
): Promise<void> {
  await removeDriver(sessionId);
  for (;;) {
    const { sessions } = await store.listSessions({ parent: sessionId, limit: 100 });
    if (sessions.length === 0) return;
    for (const child of sessions) {
      await removeDrivers(child.sessionId, { store, removeDriver });
      await store.deleteSession(child.sessionId);
      await deleteReopened(child.sessionId, { store, removeDriver });
    }
  }
}

/** Stops the drivers from the top, so no session opens another worker meanwhile. */
async function removeDrivers(
  sessionId: string,
  { store, removeDriver }: Pick<DeleteContext, "store" | "removeDriver">,
): Promise<void> {
  await removeDriver(sessionId);
  let page: string | undefined;
  do {
    const query = { parent: sessionId, limit: 100, ...(page !== undefined && { page }) };
    const found = await store.listSessions(query);
    for (const child of found.sessions)
      await removeDrivers(child.sessionId, { store, removeDriver });
    page = found.nextPage;
  } while (page !== undefined);
}
