import type { Principal } from "../../domain/actor.ts";
import type { Sessions } from "../../session/sessions.ts";
import { ApiError } from "../../http/routing/api-error.ts";
import { formatCursor } from "./cursor-text.ts";

export type SessionRecord = Awaited<ReturnType<Sessions["open"]>>;

/** A session in the list and in its own resource. */
export interface SessionView extends SessionRecord {
  /** Cursor of the last event at the time of the response. */
  readonly cursor: string;
  /** Path of the session's page. */
  readonly page: string;
}

export function createSessionView(record: SessionRecord): SessionView {
  return {
    ...record,
    cursor: formatCursor(record),
    page: `/sessions/${encodeURIComponent(record.sessionId)}`,
  };
}

/** Finds a session of this principal, or any session if the principal has the right `control`. Throws 404 otherwise. */
export async function findSession(
  sessions: Sessions,
  sessionId: string,
  principal: Principal,
): Promise<SessionRecord> {
  const record = await sessions.find(sessionId);
  const requested = createOwnerFilter(principal).principal ?? record?.principal;
  if (record !== undefined && record.principal === requested) return record;
  throw new ApiError(404, "not_found", `The session "${sessionId}" does not exist`, {
    hint: "GET /api/sessions lists the existing sessions",
  });
}

/** The filter for listing sessions: all sessions with the right `control`, else the principal's own. */
export function createOwnerFilter({ id, rights }: Principal): { readonly principal?: string } {
  return rights.includes("control") ? {} : { principal: id };
}
