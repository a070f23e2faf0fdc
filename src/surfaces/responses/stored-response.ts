import type { JsonObject } from "../../domain/json.ts";
import type { Caller } from "../../http/caller.ts";
import { ApiError } from "../../http/api-error.ts";
import { readResponseId } from "../../wire/responses/ids.ts";
import type { Asked } from "./ask.ts";
import { ownedSession } from "./owned-session.ts";
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
  const event = (await envelopeAt(record, place.seq, sessions))?.event;
  if (event?.type !== "prompt.accepted" && event?.type !== "results.given")
    throw unknownResponse(id);
  const { promptId, note = {} } = event;
  const { forgotten } = await sessions.peek(place.sessionId);
  if (!isKept(note) || forgotten.includes(promptId)) throw unknownResponse(id);
  const { incarnation, agent } = record;
  return { ...place, incarnation, agent, promptId, note, isRepeated: false };
}

/** Whether the caller wanted it to be found again. */
export function isKept(note: JsonObject): boolean {
  const { echo } = note;
  return !(typeof echo === "object" && echo !== null && "store" in echo && echo.store === false);
}

function unknownResponse(id: string): ApiError {
  const message = `There is no response "${id.slice(0, 300)}"`;
  return new ApiError(404, "not_found", message, {
    param: "response_id",
    reason: "response_not_found",
  });
}
