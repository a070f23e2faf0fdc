import type { ToldUpdate } from "../wire/acp/client/read-update.ts";
import { weightOf } from "./prompt-run.ts";

/**
 * Updates of sessions that are being taken up from a place. Until the agent tells from there it may tell other things of the
 * session, some of which come once more: nothing is passed on before it is known what comes after what.
 */
export interface HeldUpdates {
  /** Several may hold the same session at once. */
  hold(sessionId: string): void;
  /** What is to be passed on: the update where its session is not held, nothing where it is, and all where that is too much. */
  keep(told: ToldUpdate): readonly ToldUpdate[];
  /** All from the place on has come: for the last who held it, each update once, in order. */
  release(sessionId: string): readonly ToldUpdate[];
  /** The session is not told from the place on: what was held, and from here on nothing is. */
  letGo(sessionId: string): readonly ToldUpdate[];
}

interface Held {
  holders: number;
  /** Undefined where nothing is held any more. */
  updates: ToldUpdate[] | undefined;
  characters: number;
}

export function heldUpdates(): HeldUpdates {
  const held = new Map<string, Held>();

  function letGo(sessionId: string): readonly ToldUpdate[] {
    const kept = held.get(sessionId);
    const updates = kept?.updates ?? [];
    if (kept !== undefined) kept.updates = undefined;
    return eachOnce(updates);
  }

  return {
    hold(sessionId) {
      const kept = held.get(sessionId) ?? { holders: 0, updates: [], characters: 0 };
      kept.holders += 1;
      held.set(sessionId, kept);
    },
    keep(told) {
      const { sessionId } = told;
      const kept = held.get(sessionId);
      if (kept?.updates === undefined) return [told];
      kept.updates.push(told);
      kept.characters += weightOf(told.update);
      return kept.characters > MOST_HELD ? letGo(sessionId) : [];
    },
    release(sessionId) {
      const kept = held.get(sessionId);
      if (kept === undefined) return [];
      kept.holders -= 1;
      if (kept.holders > 0) return [];
      held.delete(sessionId);
      return eachOnce(kept.updates ?? []);
    },
    letGo,
  };
}

/** Characters. An agent that says so much before it answers is not waited for: something may then be told twice. */
const MOST_HELD = 64 * 1024 * 1024;

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
