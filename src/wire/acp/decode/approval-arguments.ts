import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
import { toJsonText, type JsonObject } from "../../../data/json.ts";
import { type DecodeResult, accept, decodeSessionId, rejectParams } from "../json-fields.ts";
import { fits, LINE_MARGIN, alignToCharacter } from "../fit-json.ts";
import { maskCredentials } from "../encode/permissions/mask-credentials.ts";

/** A request for the arguments of an open permission request, from an offset on. */
export interface ArgumentsRequest {
  readonly type: "arguments";
  readonly sessionId: string;
  readonly approvalId: string;
  /** Characters (UTF-16 code units) of the JSON text. */
  readonly offset: number;
}

export function decodeArgumentsRequest(params: JsonObject): DecodeResult<ArgumentsRequest> {
  const session = decodeSessionId(params);
  if (!session.ok) return session;
  const { approvalId, offset } = params;
  if (typeof approvalId !== "string" || approvalId === "")
    return rejectParams('"approvalId" is missing: expected the id in "truncated.fetch.params"');
  const from = offset ?? 0;
  if (typeof from !== "number" || !Number.isSafeInteger(from) || from < 0)
    return rejectParams('"offset" is not a valid offset: expected an integer of at least 0');
  return accept({ type: "arguments", sessionId: session.value, approvalId, offset: from });
}

/** The arguments of a permission request as JSON text, with the masks that the request shows. */
export function formatArguments({ input }: ApprovalRequested): string {
  return toJsonText(maskCredentials(input ?? {}).args);
}

/**
 * Encodes as much of the text as fits into a line. The `text` fields of all parts, joined, are the JSON of the whole
 * arguments.
 */
export function encodeArgumentsResult(
  { approvalId, offset }: ArgumentsRequest,
  text: string,
  lineBytes: number,
): object {
  const start = Math.min(offset, text.length);
  let length = lineBytes;
  let part = text.slice(start, alignToCharacter(text, Math.min(start + length, text.length)));
  while (!fits(part, lineBytes - LINE_MARGIN)) {
    length = Math.floor(length / 2);
    part = text.slice(start, alignToCharacter(text, Math.min(start + length, text.length)));
  }
  const end = start + part.length;
  return {
    approvalId,
    offset: start,
    text: part,
    nextOffset: end < text.length ? end : null,
    totalCharacters: text.length,
  };
}
