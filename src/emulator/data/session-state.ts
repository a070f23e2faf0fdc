import type { JsonValue } from "../../domain/json.ts";
import type { Message } from "../brains/message.ts";
import type { Lifecycle } from "../control/registry.ts";
import type { SessionRecord } from "./session-log.ts";

/** What the records of a session add up to. */
export interface SessionState {
  /** Whether it was ever started. */
  readonly known: boolean;
  readonly startedAt: number;
  readonly usedAt: number;
  readonly live: boolean;
  /** Of all turns that are over. */
  readonly messages: readonly Message[];
  /** Turns that were asked for and are not over. */
  readonly asked: ReadonlyMap<number, readonly Message[]>;
  readonly turns: number;
  readonly note: JsonValue;
}

export const NO_SESSION: SessionState = {
  known: false,
  startedAt: 0,
  usedAt: 0,
  live: false,
  messages: [],
  asked: new Map(),
  turns: 0,
  note: null,
};

export function afterRecord(state: SessionState, record: SessionRecord): SessionState {
  const used = { ...state, usedAt: record.at };
  switch (record.type) {
    case "started": {
      const kept = record.remembers ? state : NO_SESSION;
      const now = { startedAt: record.at, usedAt: record.at };
      return { ...kept, ...now, asked: new Map(), known: true, live: true };
    }
    case "asked": {
      const asked = new Map(state.asked).set(record.turn, record.messages);
      return { ...used, asked, turns: record.turn + 1 };
    }
    case "answered": {
      const messages = [
        ...state.messages,
        ...(state.asked.get(record.turn) ?? []),
        ...record.messages,
      ];
      return { ...used, asked: without(state.asked, record.turn), messages, note: record.note };
    }
    case "forgotten":
      return { ...used, asked: without(state.asked, record.turn), note: record.note };
    case "used":
      return used;
    case "stopped":
      return { ...state, live: false };
    default:
      return record satisfies never;
  }
}

function without<Value>(map: ReadonlyMap<number, Value>, key: number): Map<number, Value> {
  const rest = new Map(map);
  rest.delete(key);
  return rest;
}

/** When a session ends by itself. It is not idle while something runs in it. */
export function endOf(
  { startedAt, usedAt }: SessionState,
  { idleSeconds, lifetimeSeconds }: Lifecycle,
  isActive: boolean,
): number {
  const oldest = startedAt + lifetimeSeconds * 1000;
  return isActive ? oldest : Math.min(oldest, usedAt + idleSeconds * 1000);
}
