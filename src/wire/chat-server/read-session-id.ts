import { WHENCE_SESSIONS, isSessionId } from "../responses/ids.ts";
import type { NamedSession } from "./chat-message.ts";
import { refuse, refuseType } from "./refuse.ts";

/** A session id that came back to us. One that is empty or null names none. */
export function readSessionId(value: unknown, param: string): NamedSession[] {
  if (value === undefined || value === null || value === "") return [];
  if (typeof value !== "string") return refuseType(param, value, "a session id");
  if (isSessionId(value)) return [{ id: value, param }];
  const rule = "33 to 256 letters, digits, - and _, the first a letter or digit";
  const message = `${param} is no session id, which has ${rule}. ${WHENCE_SESSIONS}`;
  return refuse(param, "invalid_session_id", message);
}

/** The session that all of them name. Two that differ are a mistake that nobody can settle here. */
export function oneSession(named: readonly NamedSession[]): string | null {
  const [first, ...rest] = named;
  if (first === undefined) return null;
  const other = rest.find(({ id }) => id !== first.id);
  if (other === undefined) return first.id;
  const message = `${first.param} and ${other.param} name different sessions; send those of one conversation`;
  return refuse(other.param, "conflicting_session", message);
}
