import { ITEM_PREFIXES } from "./items/item-id.ts";
import { computeShortDigest } from "../../data/short-digest.ts";

/** Where in the log of a session a response begins. */
export interface LogPosition {
  readonly sessionId: string;
  readonly seq: number;
}

/** Whether somebody may name a session so: what every provider takes, or one of our own from before. */
export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text) || LOCAL_SESSION_ID.test(text);
}

/** For whoever names one that is none. */
export const SESSION_ID_HINT =
  "Answers have it in x-spanline-session; one of your own is taken only where adoptSessions is set";

const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{32,255}$/;
const LOCAL_SESSION_ID = /^ses_[0-9a-z]{26}$/;

export function formatResponseId({ sessionId, seq }: LogPosition): string {
  return `resp_${sessionId}_${seq}`;
}

/** How a turn is ended that waits for results. */
export function formatCancelPath(position: LogPosition): string {
  return `POST /v1/responses/${formatResponseId(position)}/cancel`;
}

export function parseResponseId(id: string): LogPosition | null {
  return id.startsWith("resp_") ? parseLogPosition(id.slice("resp_".length)) : null;
}

/**
 * The session that an id of an item says, if it is one of ours. Behind the session it has the event that opened the item:
 * of a block its message's, with the number of the block, since the log may drop what a block began with.
 */
export function parseItemSession(id: string): string | null {
  const [, prefix = "", sessionId = ""] = ITEM_ID.exec(id) ?? [];
  return KNOWN_PREFIXES.has(prefix) && isSessionId(sessionId) ? sessionId : null;
}

const ITEM_ID = /^([a-z]+)_(.+)_\d{1,16}(?:-\d{1,16})?$/;

const KNOWN_PREFIXES: ReadonlySet<string> = new Set(Object.values(ITEM_PREFIXES));

/** A session's id may hold underscores, a number does not: the last one parts them. */
function parseLogPosition(text: string): LogPosition | null {
  const end = text.lastIndexOf("_");
  const [sessionId, digits] = [text.slice(0, end), text.slice(end + 1)];
  if (end < 0 || !isSessionId(sessionId) || !/^[1-9]\d{0,15}$/.test(digits)) return null;
  const seq = Number(digits);
  return Number.isSafeInteger(seq) ? { sessionId, seq } : null;
}

/**
 * A call's id on the wire, where ids have at most 64 characters. It says its session where that has room in it; which of
 * the session's calls it is, is found by making the ids of those that can be meant.
 */
export function formatCallId(sessionId: string, toolCallId: string): string {
  const named = `call_${sessionId}_${computeShortDigest(toolCallId)}`;
  if (named.length <= MAX_CALL_ID_LENGTH) return named;
  return `call_${computeShortDigest(sessionId)}${computeShortDigest(`${sessionId} ${toolCallId}`)}`;
}

/** The session that a call's id says, if it is one of ours and says one. */
export function parseCallSession(callId: string): string | null {
  const [, sessionId = ""] = CALL_ID.exec(callId) ?? [];
  return callId.length <= MAX_CALL_ID_LENGTH && isSessionId(sessionId) ? sessionId : null;
}

const CALL_ID = /^call_(.+)_[0-9a-z]{13}$/;
const MAX_CALL_ID_LENGTH = 64;

/** The call among these that an id on the wire means. */
export function findToolCallId(
  callId: string,
  sessionId: string,
  toolCallIds: Iterable<string>,
): string | null {
  for (const toolCallId of toolCallIds) {
    if (formatCallId(sessionId, toolCallId) === callId) return toolCallId;
  }
  return null;
}
