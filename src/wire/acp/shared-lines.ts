import { isObject } from "../../domain/json.ts";
import { NewestKept } from "../../domain/newest-kept.ts";
import { agentEventLine } from "./agent-event.ts";
import { updateLine, type SessionUpdate } from "./session-update.ts";
import type { VendorUpdate } from "./vendor-updates.ts";

/** What clients are told, as lines. Where many are told the same at about the same time, it is written out once for all. */
export interface SharedLines {
  update(sessionId: string, update: SessionUpdate, cursor?: string): string;
  /** The same for a client that would not know it as an update. */
  event(sessionId: string, update: VendorUpdate, cursor?: string): string;
}

export function sharedLines(): SharedLines {
  const kept = new NewestKept<readonly WrittenLine[]>(KEPT_CHARACTERS);

  /** Clients of several profiles are told different things at one place; which is which the updates say themselves. */
  function shared(name: string, update: object, write: () => string): string {
    const known = kept.get(name) ?? [];
    const same = known.find((one) => isSame(one.update, update));
    if (same !== undefined) return same.line;
    const lines = [...known, { update, line: write() }].slice(-MOST_PROFILES);
    const characters = lines.reduce((sum, { line }) => sum + line.length + BESIDE, 0);
    kept.set(name, lines, characters);
    return lines.at(-1)?.line ?? "";
  }

  return {
    // Without a cursor nobody knows whether two are at the same place.
    update: (sessionId, update, cursor) =>
      cursor === undefined
        ? updateLine(sessionId, update)
        : shared(`${sessionId} ${cursor}`, update, () => updateLine(sessionId, update, cursor)),
    event: (sessionId, update, cursor) =>
      cursor === undefined
        ? agentEventLine(sessionId, update)
        : shared(`${sessionId} ${cursor} event`, update, () =>
            agentEventLine(sessionId, update, cursor),
          ),
  };
}

interface WrittenLine {
  readonly update: object;
  readonly line: string;
}

/** Whether both would be written the same. To look costs less than to write. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, at) => isSame(item, other[at]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const names = Object.keys(one);
  const others = Object.keys(other);
  return (
    names.length === others.length &&
    names.every((name, at) => others[at] === name && isSame(one[name], other[name]))
  );
}

const KEPT_CHARACTERS = 1_000_000;
const MOST_PROFILES = 4;
/** Roughly what a line takes in memory beside its characters. */
const BESIDE = 500;
