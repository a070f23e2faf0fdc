import type {
  InboxFrame,
  InboxItem,
  SessionsFrame,
  SessionSummary,
} from "../../wire/live/live-frames.ts";

export interface SessionList {
  /** The session with the newest event first. */
  readonly sessions: readonly SessionSummary[];
  /** False if the bridge has older sessions. */
  readonly isComplete: boolean;
  /** False until the bridge has sent the list. */
  readonly isLoaded: boolean;
}

export const NO_SESSIONS: SessionList = { sessions: [], isComplete: true, isLoaded: false };

export function applySessionsFrame(list: SessionList, frame: SessionsFrame): SessionList {
  const { reset, sessions, removed, complete } = frame;
  const byId = new Map(reset ? [] : list.sessions.map((summary) => [summary.sessionId, summary]));
  for (const summary of sessions) byId.set(summary.sessionId, summary);
  for (const sessionId of removed) byId.delete(sessionId);
  return {
    sessions: [...byId.values()].sort((left, right) => right.updatedAt - left.updatedAt),
    isComplete: complete ?? list.isComplete,
    isLoaded: true,
  };
}

export interface InboxList {
  /** The oldest request first. */
  readonly items: readonly InboxItem[];
  readonly isComplete: boolean;
  readonly isLoaded: boolean;
}

export const NO_REQUESTS: InboxList = { items: [], isComplete: true, isLoaded: false };

export function applyInboxFrame(list: InboxList, frame: InboxFrame): InboxList {
  const { reset, items, removed, complete } = frame;
  const byKey = new Map(reset ? [] : list.items.map((item) => [item.key, item]));
  for (const item of items) byKey.set(item.key, item);
  for (const key of removed) byKey.delete(key);
  return {
    items: [...byKey.values()].sort((left, right) => left.requestedAt - right.requestedAt),
    isComplete: complete ?? list.isComplete,
    isLoaded: true,
  };
}
