import type { CurrentTurn } from "./turn-state.ts";

/** While somebody is waited for, the clock of the turn stands still. */
export function startWait(current: CurrentTurn, at: number): CurrentTurn {
  const { pendingWaits, waitingSince } = current;
  return { ...current, pendingWaits: pendingWaits + 1, waitingSince: waitingSince ?? at };
}

/** The clock of the turn goes on when nobody is asked any more. */
export function endWait(current: CurrentTurn, at: number): CurrentTurn {
  const { pendingWaits: questions, waitingSince: askedAt, waitedMs } = current;
  if (questions > 1) return { ...current, pendingWaits: questions - 1 };
  const waited = askedAt === null ? 0 : Math.max(0, at - askedAt);
  return { ...current, pendingWaits: 0, waitingSince: null, waitedMs: waitedMs + waited };
}

/** Nobody was at the turn since the event before. A wait for people counts itself. */
export function skipDowntime(current: CurrentTurn, lastEventAt: number, at: number): CurrentTurn {
  if (current.waitingSince !== null) return current;
  return { ...current, waitedMs: current.waitedMs + Math.max(0, at - lastEventAt) };
}
