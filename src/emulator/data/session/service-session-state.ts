import type { JsonValue } from "../../../data/json.ts";
import type { Message } from "../../brains/session-message.ts";
import type { Lifecycle } from "../../control/harness-registry.ts";
import type { SessionRecord } from "./session-log.ts";

/** The state folded from the records of a session. */
export interface ServiceSessionState {
  /** True if the session was ever started. */
  readonly isKnown: boolean;
  readonly startedAt: number;
  readonly usedAt: number;
  readonly isLive: boolean;
  /** The messages of all finished turns. */
  readonly messages: readonly Message[];
  /** Turns that were started and have not finished. */
  readonly openTurns: ReadonlyMap<number, readonly Message[]>;
  readonly turns: number;
  readonly note: JsonValue;
}

export const NO_SESSION: ServiceSessionState = {
  isKnown: false,
  startedAt: 0,
  usedAt: 0,
  isLive: false,
  messages: [],
  openTurns: new Map(),
  turns: 0,
  note: null,
};

export function applyRecord(
  state: ServiceSessionState,
  record: SessionRecord,
): ServiceSessionState {
  const touched = { ...state, usedAt: record.at };
  switch (record.type) {
    case "started": {
      const base = record.remembers ? state : NO_SESSION;
      const now = { startedAt: record.at, usedAt: record.at };
      return { ...base, ...now, openTurns: new Map(), isKnown: true, isLive: true };
    }
    case "asked": {
      const openTurns = new Map(state.openTurns).set(record.turn, record.messages);
      return { ...touched, openTurns, turns: record.turn + 1 };
    }
    case "answered": {
      const messages = [
        ...state.messages,
        ...(state.openTurns.get(record.turn) ?? []),
        ...record.messages,
      ];
      return {
        ...touched,
        openTurns: withoutKey(state.openTurns, record.turn),
        messages,
        note: record.note,
      };
    }
    case "forgotten":
      return { ...touched, openTurns: withoutKey(state.openTurns, record.turn), note: record.note };
    case "used":
      return touched;
    case "stopped":
      return { ...state, isLive: false };
    default:
      return record satisfies never;
  }
}

function withoutKey<Value>(map: ReadonlyMap<number, Value>, key: number): Map<number, Value> {
  const copy = new Map(map);
  copy.delete(key);
  return copy;
}

/** When a session ends by itself. The idle timeout does not apply while work is running. */
export function computeSessionEnd(
  { startedAt, usedAt }: ServiceSessionState,
  { idleSeconds, lifetimeSeconds }: Lifecycle,
  isActive: boolean,
): number {
  const lifetimeEnd = startedAt + lifetimeSeconds * 1000;
  return isActive ? lifetimeEnd : Math.min(lifetimeEnd, usedAt + idleSeconds * 1000);
}
