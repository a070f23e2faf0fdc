import type { ReceivedUpdate } from "../../wire/acp/client/read-update.ts";
import { measureUpdate } from "./prompt-run.ts";

/**
 * Updates of sessions that are being taken up from a place. Until the agent tells from there it may tell other things of the
 * session, some of which come once more: nothing is passed on before it is known what comes after what.
 */
export interface HeldUpdates {
  /** Several may hold the same session at once. */
  hold(sessionId: string): void;
  /** What is to be passed on: the update where its session is not held, nothing where it is, and all where that is too much. */
  keep(received: ReceivedUpdate): readonly ReceivedUpdate[];
  /** All from the place on has come: for the last who held it, each update once, in order. */
  release(sessionId: string): readonly ReceivedUpdate[];
  /** The session is not told from the place on: what was held, and from here on nothing is. */
  letGo(sessionId: string): readonly ReceivedUpdate[];
}

interface HeldSession {
  holders: number;
  /** Undefined where nothing is held any more. */
  updates: ReceivedUpdate[] | undefined;
  characters: number;
}

export function createHeldUpdates(): HeldUpdates {
  const heldSessions = new Map<string, HeldSession>();

  function letGo(sessionId: string): readonly ReceivedUpdate[] {
    const heldSession = heldSessions.get(sessionId);
    const updates = heldSession?.updates ?? [];
    if (heldSession !== undefined) heldSession.updates = undefined;
    return dedupeUpdates(updates);
  }

  return {
    hold(sessionId) {
      const heldSession = heldSessions.get(sessionId) ?? { holders: 0, updates: [], characters: 0 };
      heldSession.holders += 1;
      heldSessions.set(sessionId, heldSession);
    },
    keep(received) {
      const { sessionId } = received;
      const heldSession = heldSessions.get(sessionId);
      if (heldSession?.updates === undefined) return [received];
      heldSession.updates.push(received);
      heldSession.characters += measureUpdate(received.update);
      return heldSession.characters > MAX_HELD_CHARACTERS ? letGo(sessionId) : [];
    },
    release(sessionId) {
      const heldSession = heldSessions.get(sessionId);
      if (heldSession === undefined) return [];
      heldSession.holders -= 1;
      if (heldSession.holders > 0) return [];
      heldSessions.delete(sessionId);
      return dedupeUpdates(heldSession.updates ?? []);
    },
    letGo,
  };
}

/** Characters. An agent that says so much before it answers is not waited for: something may then be told twice. */
const MAX_HELD_CHARACTERS = 64 * 1024 * 1024;

/**
 * What was told from the place on has everything in it, and stands last: so many updates as there are different ones. Those
 * without a place are about the connection, as the list of commands is, and are no part of what is told again.
 */
function dedupeUpdates(updates: readonly ReceivedUpdate[]): readonly ReceivedUpdate[] {
  const places = updates.flatMap(({ cursor }) => cursor ?? []);
  let repeated = places.length - new Set(places).size;
  return updates.filter(({ cursor }) => {
    if (cursor === undefined || repeated === 0) return true;
    repeated -= 1;
    return false;
  });
}
