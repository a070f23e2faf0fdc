import { canUseSession, type Caller } from "../../../http/access/caller.ts";
import type { Sessions } from "../../../session/sessions.ts";

export type SessionRecord = NonNullable<Awaited<ReturnType<Sessions["find"]>>>;

/** A session of the caller's. One of somebody else's is as little there as one that never was. */
export async function findOwnedSession(
  sessions: Sessions,
  sessionId: string,
  caller: Caller,
): Promise<SessionRecord | undefined> {
  const record = await sessions.find(sessionId);
  return record !== undefined && canUseSession(caller, record) ? record : undefined;
}
