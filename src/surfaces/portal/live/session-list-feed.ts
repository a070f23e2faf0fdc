import { pause } from "../../../async/pause.ts";
import type { SessionSummary } from "../../../wire/live/live-frames.ts";
import { formatCursor } from "../../../wire/live/cursor-text.ts";
import { canReadSession, createOwnerFilter, type SessionRecord } from "../session-resource.ts";
import type { FeedContext } from "./feed-context.ts";

/** Sessions in the first frame. */
const MAX_LISTED_SESSIONS = 200;

/** Sends the newest sessions, then the changes of the session list, until the signal aborts. */
export async function sendSessionList(context: FeedContext, signal: AbortSignal): Promise<void> {
  const { sessions, caller, writer, clock, intervalMs } = context;
  // The thread of a session links to the sessions of its workers.
  const isVisible = (record: SessionRecord): boolean =>
    record.lineage === null && canReadSession(record, caller);
  const removals = createRemovalFilter(context);
  for await (const { reset, changed, removed } of sessions.watchSessions(signal)) {
    if (reset) {
      const query = { limit: MAX_LISTED_SESSIONS, parent: null, ...createOwnerFilter(caller) };
      const page = await sessions.list(query);
      const listed = page.sessions.filter(isVisible);
      removals.add(listed);
      await writer.write({
        type: "sessions",
        reset: true,
        sessions: listed.map(createSummary),
        removed: [],
        complete: page.nextPage === undefined,
      });
    } else {
      const visible = changed.filter(isVisible);
      removals.add(visible);
      const gone = removals.take(removed);
      if (visible.length > 0 || gone.length > 0) {
        const summaries = visible.map(createSummary);
        await writer.write({ type: "sessions", reset: false, sessions: summaries, removed: gone });
      }
    }
    // The store collects the changes of this time.
    await pause(clock, intervalMs, signal);
  }
}

/** Selects the removed sessions which the caller has received before: a deleted session no longer has a principal. */
interface RemovalFilter {
  add(records: readonly SessionRecord[]): void;
  take(removed: readonly string[]): readonly string[];
}

function createRemovalFilter({ caller }: Pick<FeedContext, "caller">): RemovalFilter {
  if (caller.rights.includes("control") && caller.agents === undefined)
    return { add: () => {}, take: (removed) => removed };
  const sentIds = new Set<string>();
  return {
    add(records) {
      for (const { sessionId } of records) sentIds.add(sessionId);
      for (const sessionId of sentIds) {
        if (sentIds.size <= MAX_SENT_IDS) return;
        sentIds.delete(sessionId);
      }
    },
    take: (removed) => removed.filter((sessionId) => sentIds.delete(sessionId)),
  };
}

const MAX_SENT_IDS = 10_000;

function createSummary(record: SessionRecord): SessionSummary {
  const { sessionId, agent, principal, title, workingDirectory } = record;
  const { state, createdAt, updatedAt } = record;
  return {
    sessionId,
    agent,
    principal,
    title,
    workingDirectory,
    state,
    createdAt,
    updatedAt,
    cursor: formatCursor(record),
  };
}
