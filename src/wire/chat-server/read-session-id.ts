import { isSessionId } from "../../domain/events/log-position.ts";
import { SESSION_ID_HINT } from "../responses/response-ids.ts";
import type { SessionReference } from "./chat-message.ts";
import { rejectRequest, rejectType } from "./reject-request.ts";

/** Reads a session id sent back by the client. Empty and null name no session. */
export function readSessionId(value: unknown, param: string): SessionReference[] {
  if (value === undefined || value === null || value === "") return [];
  if (typeof value !== "string") return rejectType(param, value, "a session id");
  if (isSessionId(value)) return [{ id: value, param }];
  const rule = "33 to 256 letters, digits, - and _, the first a letter or digit";
  const message = `${param} is not a valid session id: expected ${rule}. ${SESSION_ID_HINT}`;
  return rejectRequest(param, "invalid_session_id", message);
}

/** Returns the session named by all references. Throws `conflicting_session` if two differ. */
export function resolveSingleSession(references: readonly SessionReference[]): string | null {
  const [first, ...rest] = references;
  if (first === undefined) return null;
  const conflicting = rest.find(({ id }) => id !== first.id);
  if (conflicting === undefined) return first.id;
  const message = `${first.param} and ${conflicting.param} name different sessions; send the ids of one conversation`;
  return rejectRequest(conflicting.param, "conflicting_session", message);
}
