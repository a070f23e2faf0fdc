/** The position of an event in the log of a session. */
export interface LogPosition {
  readonly sessionId: string;
  readonly seq: number;
}

/**
 * Returns whether a string is a valid session id: the format accepted by every provider, or the shorter id (`ses_` and 26
 * characters) generated for sessions of other surfaces.
 */
export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text) || LOCAL_SESSION_ID.test(text);
}

const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{32,255}$/;
const LOCAL_SESSION_ID = /^ses_[0-9a-z]{26}$/;

/** Formats a position for the ids which surfaces derive from it. */
export function formatLogPosition({ sessionId, seq }: LogPosition): string {
  return `${sessionId}_${seq}`;
}

/** A session id may contain underscores and a number does not, so the last underscore separates them. */
export function parseLogPosition(text: string): LogPosition | null {
  const end = text.lastIndexOf("_");
  const [sessionId, digits] = [text.slice(0, end), text.slice(end + 1)];
  if (end < 0 || !isSessionId(sessionId) || !/^[1-9]\d{0,15}$/.test(digits)) return null;
  const seq = Number(digits);
  return Number.isSafeInteger(seq) ? { sessionId, seq } : null;
}
