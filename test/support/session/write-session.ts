import { join } from "node:path";
import type { SessionEvent } from "../../../src/domain/events/session-event.ts";
import { openSqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";

export interface WrittenSession {
  readonly sessionId: string;
  readonly title: string;
  /** Everything after `session.opened`. */
  readonly events: readonly SessionEvent[];
  /** `waiting` if the events end with an open approval. Default: `idle`. */
  readonly state?: "idle" | "waiting";
}

const START = Date.UTC(2026, 10, 16, 9, 30);
const BATCH_EVENTS = 500;

/** Writes sessions of the demo agent into a data directory that no process owns. */
export async function writeSessions(
  dataDirectory: string,
  ...sessions: readonly WrittenSession[]
): Promise<void> {
  const store = await openSqliteStore({ file: join(dataDirectory, "sessions.db") });
  try {
    for (const { sessionId, title, state = "idle", events } of sessions) {
      const fields = { agent: "demo", principal: "local", title };
      const opened: SessionEvent = { type: "session.opened", ...fields };
      const leaseOptions = { owner: "past", now: 0, durationMs: 1, takeOver: true };
      const { lease } = await store.acquire(sessionId, leaseOptions);
      const all = [opened, ...events];
      for (let seq = 0; seq < all.length; seq += BATCH_EVENTS) {
        const drafts = all
          .slice(seq, seq + BATCH_EVENTS)
          .map(
            (event, at) => ({ at: START + 250 * (seq + at), visibility: "public", event }) as const,
          );
        const appended = await store.append(lease, seq, {
          events: drafts,
          index: { ...fields, state },
          sync: false,
        });
        if (appended.status !== "appended") throw new Error(`Not appended: ${appended.status}`);
      }
    }
  } finally {
    await store.close();
  }
}
