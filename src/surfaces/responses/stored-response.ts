import type { JsonObject } from "../../domain/json.ts";
import type { Caller } from "../../http/caller.ts";
import { ApiError } from "../../http/api-error.ts";
import type { Outlook, Sessions } from "../../session/sessions.ts";
import { readResponseId } from "../../wire/responses/ids.ts";
import type { Asked } from "./ask.ts";
import { ownedSession, type SessionRecord } from "./owned-session.ts";
import { envelopeAt } from "./read-log.ts";
import type { Surface } from "./surface.ts";

/** A response by its id, if it is the caller's and was kept. */
export async function storedResponse(
  { sessions }: Pick<Surface, "sessions">,
  id: string,
  caller: Caller,
): Promise<Asked> {
  const place = readResponseId(id);
  const record = place === null ? undefined : await ownedSession(sessions, place.sessionId, caller);
  if (place === null || record === undefined) throw unknownResponse(id);
  const asked = await askedAt(record, place.seq, sessions);
  const outlook = await sessions.peek(place.sessionId);
  if (asked === undefined || !isFound(asked, outlook)) throw unknownResponse(id);
  return asked;
}

/** What was asked at a place of the log; undefined where nothing was. */
export async function askedAt(
  record: SessionRecord,
  seq: number,
  sessions: Sessions,
): Promise<Asked | undefined> {
  if (seq > record.seq) return undefined;
  const event = (await envelopeAt(record, seq, sessions))?.event;
  if (event?.type !== "prompt.accepted" && event?.type !== "results.given") return undefined;
  const { sessionId, incarnation, agent } = record;
  const { promptId, note = {} } = event;
  return { sessionId, incarnation, agent, seq, promptId, note, isRepeated: true };
}

/** Whether it may be found by its id, and gone on from. */
export function isFound(
  { note, promptId }: Pick<Asked, "note" | "promptId">,
  { forgotten }: Pick<Outlook, "forgotten">,
): boolean {
  return isKept(note) && !forgotten.includes(promptId);
}

/** Whether the caller wanted it to be found again. */
function isKept({ echo }: JsonObject): boolean {
  return !(typeof echo === "object" && echo !== null && "store" in echo && echo.store === false);
}

function unknownResponse(id: string): ApiError {
  const message = `There is no response "${id.slice(0, 300)}"`;
  return new ApiError(404, "not_found", message, {
    param: "response_id",
    reason: "response_not_found",
  });
}
