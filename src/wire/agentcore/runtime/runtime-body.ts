import { FrameError, TruncatedStreamError, type Failure } from "../../../domain/errors.ts";
import { isCutJson, parseLenientJson } from "../../strands/python/lenient-json.ts";
import type { StrandsInput } from "../../strands/fold.ts";
import type { WholeBodyItem } from "../response-body.ts";

/** Reads a complete body with a JSON content type: JSON, or plain text, which TypeScript apps send with this type. */
export function readJsonBody(item: WholeBodyItem): StrandsInput {
  if (item.type === "failure") return toFailureInput(item.error.toFailure());
  const { text, bytes } = item;
  const parsed = parseLenientJson(text);
  if (parsed.ok) return { type: "body", value: parsed.value };
  if (isCutJson(text)) {
    const message = `The body is not complete JSON: ${parsed.reason}`;
    const position = { offset: 0, pendingBytes: bytes };
    return toFailureInput(new TruncatedStreamError(message, position).toFailure());
  }
  if (!/^\s*(?:\{\s*"|\[\s*[[{])/.test(text)) return toTextEvent(text);
  const message = `The body is not JSON: ${parsed.reason}`;
  return toFailureInput(new FrameError("frame_invalid", message, { offset: 0 }).toFailure());
}

/** Reads a complete body of the type `text/plain`. The body is JSON only if all of it parses. */
export function readTextBody(item: WholeBodyItem): StrandsInput {
  if (item.type === "failure") return toFailureInput(item.error.toFailure());
  const parsed = parseLenientJson(item.text);
  const isJson = parsed.ok && /^\s*["[{]/.test(item.text);
  return isJson ? { type: "body", value: parsed.value } : toTextEvent(item.text);
}

function toTextEvent(data: string): StrandsInput {
  return { type: "event", event: "", data };
}

function toFailureInput(failure: Failure): StrandsInput {
  return { type: "failure", failure };
}
