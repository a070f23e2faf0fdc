import { canUseSession, type Caller } from "../../http/access/caller.ts";
import type { Sessions } from "../../session/sessions.ts";

export type SessionRecord = NonNullable<Awaited<ReturnType<Sessions["find"]>>>;

/** Finds a session of this caller. Sessions of other callers are reported as missing. */
export async function findOwnedSession(
  sessions: Sessions,
  sessionId: string,
  caller: Caller,
): Promise<SessionRecord | undefined> {
  const record = await sessions.find(sessionId);
  return record !== undefined && canUseSession(caller, record) ? record : undefined;
}
