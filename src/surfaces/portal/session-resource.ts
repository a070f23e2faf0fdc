import type { Principal } from "../../domain/actor.ts";
import { canUseAgent, type Caller } from "../../http/access/caller.ts";
import type { Sessions } from "../../session/sessions.ts";
import { ApiError } from "../../http/routing/api-error.ts";
import { formatCursor } from "../../wire/live/cursor-text.ts";
import { formatUnknownName } from "../../text/unknown-name.ts";

export type SessionRecord = Awaited<ReturnType<Sessions["open"]>>;

/** A session in the list and in its own resource. */
export interface SessionResource extends SessionRecord {
  /** Cursor of the last event at the time of the response. */
  readonly cursor: string;
  /** Path of the session's page. */
  readonly page: string;
}

export function createSessionResource(record: SessionRecord): SessionResource {
  return {
    ...record,
    cursor: formatCursor(record),
    page: `/sessions/${encodeURIComponent(record.sessionId)}`,
  };
}

/** Finds a session, if the caller may read the session. Throws 404 otherwise. */
export async function findSession(
  sessions: Sessions,
  sessionId: string,
  caller: Caller,
): Promise<SessionRecord> {
  const record = await sessions.find(sessionId);
  if (record !== undefined && canReadSession(record, caller)) return record;
  throw new ApiError(404, "not_found", formatUnknownName("Session", sessionId), {
    hint: "GET /api/sessions lists the existing sessions",
  });
}

/**
 * Whether the caller may read a session: its own sessions, or all with the right `control`. A key which is limited to
 * some agents reads only sessions of its agents.
 */
export function canReadSession(
  { principal, agent }: Pick<SessionRecord, "principal" | "agent">,
  caller: Caller,
): boolean {
  const isOwn = caller.rights.includes("control") || principal === caller.id;
  return isOwn && canUseAgent(caller, agent);
}

/** The filter for listing sessions: all sessions with the right `control`, else the principal's own. */
export function createOwnerFilter({ id, rights }: Principal): { readonly principal?: string } {
  return rights.includes("control") ? {} : { principal: id };
}
