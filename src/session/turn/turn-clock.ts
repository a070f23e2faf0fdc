import type { CurrentTurn } from "./turn-state.ts";

/** While somebody is waited for, the clock of the turn stands still. */
export function withQuestion(current: CurrentTurn, at: number): CurrentTurn {
  const { questions, askedAt } = current;
  return { ...current, questions: questions + 1, askedAt: askedAt ?? at };
}

/** The clock of the turn goes on when nobody is asked any more. */
export function withAnswer(current: CurrentTurn, at: number): CurrentTurn {
  const { questions, askedAt, waitedMs } = current;
  if (questions > 1) return { ...current, questions: questions - 1 };
  const waited = askedAt === null ? 0 : Math.max(0, at - askedAt);
  return { ...current, questions: 0, askedAt: null, waitedMs: waitedMs + waited };
}

/** Nobody was at the turn since the event before. A wait for people counts itself. */
export function withoutAbsence(current: CurrentTurn, lastAt: number, at: number): CurrentTurn {
  if (current.askedAt !== null) return current;
  return { ...current, waitedMs: current.waitedMs + Math.max(0, at - lastAt) };
}
