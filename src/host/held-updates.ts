import type { ToldUpdate } from "../wire/acp/client/read-update.ts";

/**
 * Updates of sessions that are being taken up from a place. Until the agent tells from there it may tell other things of the
 * session, some of which come once more: nothing is passed on before it is known what comes after what.
 */
export interface HeldUpdates {
  hold(sessionId: string): void;
  /** Whether it is held, and not to be passed on. */
  keep(told: ToldUpdate): boolean;
  /** All from the place on has come: each update once, in order. */
  release(sessionId: string): readonly ToldUpdate[];
}

export function heldUpdates(): HeldUpdates {
  const held = new Map<string, ToldUpdate[]>();
  return {
    hold: (sessionId) => void held.set(sessionId, []),
    keep(told) {
      const kept = held.get(told.sessionId);
      kept?.push(told);
      return kept !== undefined;
    },
    release(sessionId) {
      const kept = held.get(sessionId) ?? [];
      held.delete(sessionId);
      return eachOnce(kept);
    },
  };
}

/**
 * What was told from the place on has everything in it, and stands last: so many updates as there are different ones. Those
 * without a place are about the connection, as the list of commands is, and are no part of what is told again.
 */
function eachOnce(kept: readonly ToldUpdate[]): readonly ToldUpdate[] {
  const places = kept.flatMap(({ cursor }) => cursor ?? []);
  let repeated = places.length - new Set(places).size;
  return kept.filter(({ cursor }) => {
    if (cursor === undefined || repeated === 0) return true;
    repeated -= 1;
    return false;
  });
}
