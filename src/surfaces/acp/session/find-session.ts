import type { Principal } from "../../../domain/actor.ts";
import type { Sessions } from "../../../session/sessions.ts";

/** What the list of sessions says of one. */
export type SessionEntry = NonNullable<Awaited<ReturnType<Sessions["find"]>>>;

/** A session belongs to its principal; to another it is not there. */
export async function findSession(
  sessions: Sessions,
  sessionId: string,
  { id }: Principal,
): Promise<SessionEntry | undefined> {
  const entry = await sessions.find(sessionId);
  return entry?.principal === id ? entry : undefined;
}

export async function findLatestSession(
  sessions: Sessions,
  { id }: Principal,
): Promise<SessionEntry | undefined> {
  const page = await sessions.list({ limit: 1, principal: id });
  return page.sessions[0];
}
