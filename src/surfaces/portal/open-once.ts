import { digestOfText } from "../../platform/digest.ts";
import type { OpenSession, Sessions } from "../../session/sessions.ts";
import { ApiError } from "../../http/api-error.ts";
import type { SessionRecord } from "./session-view.ts";

/**
 * Opens a session under the caller's name for it: asked for again, it is the same one, for as long as it is there.
 * The name is the principal's own. Another session under it is refused (`conflict`).
 */
export async function openOnce(
  sessions: Sessions,
  wanted: Omit<OpenSession, "sessionId">,
  key: string,
): Promise<SessionRecord> {
  const name = JSON.stringify([wanted.principal.id, key]);
  const sessionId = `ses_${digestOfText(name).slice(0, ID_LENGTH)}`;
  const record = await sessions.open({ ...wanted, sessionId });
  // Looked at afterwards: of two that ask at once, one finds the other's.
  const opened = await openedWith(sessions, sessionId);
  const asked = { agent: sessions.agents[0], ...wanted };
  const other = FIELDS.find((field) => opened[field] !== asked[field]);
  if (other === undefined) return record;
  const message = `The Idempotency-Key was used for a session with another ${other}`;
  throw new ApiError(409, "conflict", message, { hint: "Give every session a key of its own" });
}

/** As long as other ids are. */
const ID_LENGTH = 26;
const FIELDS = ["agent", "title", "workingDirectory"] as const;

type Opened = { readonly [Field in (typeof FIELDS)[number]]?: string };

/** The log has what a session was opened with; its title may be another by now. */
async function openedWith(sessions: Sessions, sessionId: string): Promise<Opened> {
  const { signal } = new AbortController();
  for await (const { events } of sessions.subscribe(sessionId, undefined, signal)) {
    const first = events[0]?.event;
    return first?.type === "session.opened" ? first : {};
  }
  return {};
}
