import {
  formatLogPosition,
  isSessionId,
  parseLogPosition,
  type LogPosition,
} from "../../domain/events/log-position.ts";
import { ITEM_PREFIXES } from "./items/item-id.ts";
import { computeShortDigest } from "../../data/short-digest.ts";

/** The hint for an invalid session id. */
export const SESSION_ID_HINT =
  "Responses have the id in the header x-spanline-session; your own ids are accepted only with adoptSessions";

export function formatResponseId(position: LogPosition): string {
  return `resp_${formatLogPosition(position)}`;
}

/** Formats the request which cancels a turn waiting for results. */
export function formatCancelPath(position: LogPosition): string {
  return `POST /v1/responses/${formatResponseId(position)}/cancel`;
}

export function parseResponseId(id: string): LogPosition | null {
  return id.startsWith("resp_") ? parseLogPosition(id.slice("resp_".length)) : null;
}

/**
 * Returns the session in an item id of this server, or null. After the session, the id has the sequence number of the
 * event which opened the item. For a block this is the event of its message, followed by the block number, because the
 * log may drop the first events of a block.
 */
export function parseItemSession(id: string): string | null {
  const [, prefix = "", sessionId = ""] = ITEM_ID.exec(id) ?? [];
  return KNOWN_PREFIXES.has(prefix) && isSessionId(sessionId) ? sessionId : null;
}

const ITEM_ID = /^([a-z]+)_(.+)_\d{1,16}(?:-\d{1,16})?$/;

const KNOWN_PREFIXES: ReadonlySet<string> = new Set(Object.values(ITEM_PREFIXES));

/**
 * Formats a tool call id for the wire, with at most 64 characters. Contains the session id if it fits. `findToolCallId`
 * identifies the tool call by formatting the ids of all candidates.
 */
export function formatCallId(sessionId: string, toolCallId: string): string {
  const named = `call_${sessionId}_${computeShortDigest(toolCallId)}`;
  if (named.length <= MAX_CALL_ID_LENGTH) return named;
  return `call_${computeShortDigest(sessionId)}${computeShortDigest(`${sessionId} ${toolCallId}`)}`;
}

/** Returns the session in a tool call id of this server. Null if the id has none. */
export function parseCallSession(callId: string): string | null {
  const [, sessionId = ""] = CALL_ID.exec(callId) ?? [];
  return callId.length <= MAX_CALL_ID_LENGTH && isSessionId(sessionId) ? sessionId : null;
}

const CALL_ID = /^call_(.+)_[0-9a-z]{13}$/;
const MAX_CALL_ID_LENGTH = 64;

/** Finds the tool call with the given wire id. Null if none matches. */
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
