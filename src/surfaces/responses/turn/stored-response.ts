import type { JsonObject } from "../../../data/json.ts";
import type { Caller } from "../../../http/access/caller.ts";
import { ApiError } from "../../../http/routing/api-error.ts";
import type { SessionStatus, Sessions } from "../../../session/sessions.ts";
import { parseResponseId } from "../../../wire/responses/response-ids.ts";
import type { SubmittedPrompt } from "../prompt/prompt-request.ts";
import { findOwnedSession, type SessionRecord } from "../../log/owned-session.ts";
import { readEnvelope } from "../../log/read-log.ts";
import type { SurfaceContext } from "../surface-context.ts";
import { formatUnknownName } from "../../../text/unknown-name.ts";

/** Finds a response by id. Throws 404 if it belongs to another caller or was not stored. */
export async function findStoredResponse(
  { sessions }: Pick<SurfaceContext, "sessions">,
  id: string,
  caller: Caller,
): Promise<SubmittedPrompt> {
  const reference = parseResponseId(id);
  const record =
    reference === null ? undefined : await findOwnedSession(sessions, reference.sessionId, caller);
  if (reference === null || record === undefined) throw createUnknownResponseError(id);
  const submitted = await readSubmittedPrompt(record, reference.seq, sessions);
  const status = await sessions.status(reference.sessionId);
  if (submitted === undefined || !isRetrievable(submitted, status))
    throw createUnknownResponseError(id);
  return submitted;
}

/**
 * Reads the prompt or the tool results submitted at a position of the log. Undefined if the event is of another type.
 */
export async function readSubmittedPrompt(
  record: SessionRecord,
  seq: number,
  sessions: Sessions,
): Promise<SubmittedPrompt | undefined> {
  if (seq > record.seq) return undefined;
  const event = (await readEnvelope(record, seq, sessions))?.event;
  if (event?.type !== "prompt.accepted" && event?.type !== "tool_results.submitted")
    return undefined;
  const { sessionId, incarnation, agent } = record;
  const { promptId, note = {} } = event;
  return { sessionId, incarnation, agent, seq, promptId, note, isRepeated: true };
}

/** Whether a response can be read by its id and continued. */
export function isRetrievable(
  { note, promptId }: Pick<SubmittedPrompt, "note" | "promptId">,
  { hiddenPromptIds }: Pick<SessionStatus, "hiddenPromptIds">,
): boolean {
  return isStored(note) && !hiddenPromptIds.includes(promptId);
}

/** Whether the caller left `store` enabled. */
function isStored({ echo }: JsonObject): boolean {
  return !(typeof echo === "object" && echo !== null && "store" in echo && echo.store === false);
}

function createUnknownResponseError(id: string): ApiError {
  const message = formatUnknownName("Response", id);
  return new ApiError(404, "not_found", message, {
    param: "response_id",
    reason: "response_not_found",
  });
}
