import type { Principal } from "../../domain/actor.ts";
import type { Sessions } from "../../session/sessions.ts";
import { ApiError } from "../../http/routing/api-error.ts";
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

/** A session belongs to its principal; to another it is not there, unless they may control everything here. */
export async function foundSession(
  sessions: Sessions,
  sessionId: string,
  principal: Principal,
): Promise<SessionRecord> {
  const record = await sessions.find(sessionId);
  const wanted = ownedBy(principal).principal ?? record?.principal;
  if (record !== undefined && record.principal === wanted) return record;
  throw new ApiError(404, "not_found", `The session "${sessionId}" does not exist`, {
    hint: "GET /api/sessions lists those that there are",
  });
}

/** Whose sessions somebody sees: all, with the token of the bridge. */
export function ownedBy({ id, rights }: Principal): { readonly principal?: string } {
  return rights.includes("control") ? {} : { principal: id };
}
