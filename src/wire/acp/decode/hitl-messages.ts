import type { JsonObject, JsonValue } from "../../../data/json.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";
import type { SessionCommand } from "../../../domain/session-command.ts";
import { accept, decodeSessionId, rejectParams, type DecodeResult } from "../json-fields.ts";

/** A host's response to a request of `harn.hitl.requested`. */
export interface HitlRespondRequest {
  readonly type: "hitl-respond";
  /** Undefined if the request names none: it then means the only session of the connection. */
  readonly sessionId: string | undefined;
  readonly command: Extract<SessionCommand, { readonly type: "decide-approval" }>;
}

export const HITL_RESPOND_METHOD = "harn.hitl.respond";

/** Decodes `harn.hitl.respond`: the answer to a question, or a plain yes or no. */
export function decodeHitlRespond(params: JsonObject): DecodeResult<HitlRespondRequest> {
  const { sessionId, request_id: approvalId, answer, approved, accepted } = params;
  const session = isAbsent(sessionId) ? accept(undefined) : decodeSessionId(params);
  if (!session.ok) return session;
  if (typeof approvalId !== "string" || approvalId === "" || approvalId.length > MAX_ID_CHARACTERS)
    return rejectParams(
      `"request_id" is not a valid id: expected 1 to ${MAX_ID_CHARACTERS} characters`,
    );
  const answers = [answer, approved, accepted].filter((value) => !isAbsent(value));
  if (answers.length !== 1)
    return rejectParams('expected exactly one of "answer", "approved" and "accepted"');
  const plain = isAbsent(approved) ? accepted : approved;
  if (!isAbsent(plain) && typeof plain !== "boolean")
    return rejectParams('"approved" or "accepted" is not valid: expected true or false');
  const reason = readText(params["reason"]);
  const reviewer = readText(params["reviewer"]);
  if (reason === null || reviewer === null)
    return rejectParams(
      `"reason" or "reviewer" is not valid: expected a string of at most ${MAX_TEXT_CHARACTERS} characters`,
    );
  return accept({
    type: "hitl-respond",
    sessionId: session.value,
    command: {
      type: "decide-approval",
      approvalId,
      ...(typeof plain === "boolean" ? { approved: plain } : { answer: answer ?? null }),
      ...omitUndefined({ reason, reviewer }),
    },
  });
}

export function encodeHitlRespondResult(): object {
  return { ok: true };
}

/** Some hosts send null for an omitted field. */
function isAbsent(value: JsonValue | undefined): value is null | undefined {
  return value === undefined || value === null;
}

/** Returns null if the value is not a valid text. */
function readText(value: JsonValue | undefined): string | undefined | null {
  if (isAbsent(value)) return undefined;
  return typeof value === "string" && value.length <= MAX_TEXT_CHARACTERS ? value : null;
}

const MAX_ID_CHARACTERS = 200;
const MAX_TEXT_CHARACTERS = 4000;
