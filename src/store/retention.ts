import type { RetentionResult, RetentionRules } from "./store.ts";

/** A store as retention sees it. A session that came into use since it was listed is left as it is. */
export interface RetentionSubject {
  /** What all events have. */
  countBytes(): number;
  /** Sessions that are not in use, the oldest first. */
  listUnused(
    moment: RetentionMoment,
  ): readonly { readonly sessionId: string; readonly updatedAt: number }[];
  /** Gives how many were dropped. */
  dropDeltas(sessionId: string, moment: RetentionMoment): number;
  remove(sessionId: string, moment: RetentionMoment): boolean;
}

/** Whose leases count when. */
export type RetentionMoment = Pick<RetentionRules, "now" | "owner">;

/** One session at a time, with a turn of the loop between two: whoever talks to the others does not wait for it. */
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
