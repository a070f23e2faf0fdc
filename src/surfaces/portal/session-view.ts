import type { Sessions } from "../../session/sessions.ts";
import { ApiError } from "./api-error.ts";
import { cursorText } from "./cursor-text.ts";

export type SessionRecord = Awaited<ReturnType<Sessions["open"]>>;

/** A session as the list and its own resource show it. */
export interface SessionView extends SessionRecord {
  /** The end of the log at this moment. */
  readonly cursor: string;
  /** The path of its page. */
  readonly page: string;
}

export function sessionView(record: SessionRecord): SessionView {
  return {
    ...record,
    cursor: cursorText(record),
    page: `/sessions/${encodeURIComponent(record.sessionId)}`,
  };
}

export async function foundSession(sessions: Sessions, sessionId: string): Promise<SessionRecord> {
  const record = await sessions.find(sessionId);
  if (record !== undefined) return record;
  throw new ApiError(404, "not_found", `There is no session "${sessionId}"`, {
    hint: "GET /api/sessions lists those that there are",
  });
}
