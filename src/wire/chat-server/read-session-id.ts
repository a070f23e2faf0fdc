import { SESSION_ID_HINT, isSessionId } from "../responses/response-ids.ts";
import type { SessionReference } from "./chat-message.ts";
import { rejectRequest, rejectType } from "./reject-request.ts";

/** A session id that came back to us. One that is empty or null names none. */
export function readSessionId(value: unknown, param: string): SessionReference[] {
  if (value === undefined || value === null || value === "") return [];
  if (typeof value !== "string") return rejectType(param, value, "a session id");
  if (isSessionId(value)) return [{ id: value, param }];
  const rule = "33 to 256 letters, digits, - and _, the first a letter or digit";
  const message = `${param} is no session id, which has ${rule}. ${SESSION_ID_HINT}`;
  return rejectRequest(param, "invalid_session_id", message);
}

/** The session that all of them name. Two that differ are a mistake that nobody can settle here. */
export function resolveSingleSession(references: readonly SessionReference[]): string | null {
  const [first, ...rest] = references;
  if (first === undefined) return null;
  const conflicting = rest.find(({ id }) => id !== first.id);
  if (conflicting === undefined) return first.id;
  const message = `${first.param} and ${conflicting.param} name different sessions; send those of one conversation`;
  return rejectRequest(conflicting.param, "conflicting_session", message);
}
