import type { RetentionResult, RetentionRules } from "./store.ts";

/**
 * The operations of a store used by retention. `dropDeltas` and `remove` skip a session that came into use after the
 * list was made.
 */
export interface RetentionSubject {
  /** The bytes of all stored events. */
  countBytes(): number;
  /** Sessions that are not in use, the oldest first. */
  listUnused(
    moment: RetentionMoment,
  ): readonly { readonly sessionId: string; readonly updatedAt: number }[];
  /** Drops the deltas of ended blocks. Returns the number of dropped events. */
  dropDeltas(sessionId: string, moment: RetentionMoment): number;
  remove(sessionId: string, moment: RetentionMoment): boolean;
}

/** The time and the lease owner that decide whether a session is in use. */
export type RetentionMoment = Pick<RetentionRules, "now" | "owner">;

/**
 * Deletes inactive sessions, then drops deltas and deletes sessions until the size limit holds. Yields to the event
 * loop after each session, so other sessions are not delayed.
 */
export async function applyRetention(
  subject: RetentionSubject,
  rules: RetentionRules,
): Promise<RetentionResult> {
  const { inactiveSince: cutoff, maxBytes } = rules;
  let deletedSessions = 0;
  let droppedEvents = 0;
  const remove = (sessionId: string): void => {
    if (subject.remove(sessionId, rules)) deletedSessions += 1;
  };
  const isTooLarge = (): boolean => maxBytes !== undefined && subject.countBytes() > maxBytes;
  for (const { sessionId, updatedAt } of subject.listUnused(rules)) {
    if (cutoff === undefined || updatedAt >= cutoff) break;
    remove(sessionId);
    await waitForNextTick();
  }
  for (const { sessionId } of isTooLarge() ? subject.listUnused(rules) : []) {
    if (!isTooLarge()) break;
    droppedEvents += subject.dropDeltas(sessionId, rules);
    await waitForNextTick();
  }
  for (const { sessionId } of isTooLarge() ? subject.listUnused(rules) : []) {
    if (!isTooLarge()) break;
    remove(sessionId);
    await waitForNextTick();
  }
  return { deletedSessions, droppedEvents, bytes: subject.countBytes() };
}

function waitForNextTick(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
