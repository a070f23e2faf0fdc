import { SpanlineError } from "../../../domain/errors.ts";

const VALID_ID = /^[a-zA-Z0-9_-]{1,64}$/;
const ESCAPE_PREFIX = "x--";
const MAX_ID_LENGTH = 64;

/**
 * The id of a call as Harness takes it. Models behind other doors also put dots, colons and more into theirs; those
 * characters become their numbers, so that `originalCallId` finds the way back without any memory.
 */
export function toHarnessToolCallId(id: string): string {
  if (VALID_ID.test(id)) return id;
  const mapped = escapeId(id);
  if (id !== "" && mapped.length <= MAX_ID_LENGTH) return mapped;
  const message = `The call id "${id.slice(0, MAX_ID_LENGTH)}" cannot be written as Harness wants it: at most ${MAX_ID_LENGTH} letters, digits, "_" and "-"`;
  throw new SpanlineError("invalid_tool", message);
}

/** An id that only looks like a mapped one, and fits as it is, was never mapped. */
export function toOriginalToolCallId(id: string): string {
  if (!id.startsWith(ESCAPE_PREFIX)) return id;
  const original = id
    .slice(ESCAPE_PREFIX.length)
    .replaceAll(/_([0-9a-f]{1,6})_/g, (all, code: string) => {
      const point = Number.parseInt(code, 16);
      return point <= MAX_CODE_POINT ? String.fromCodePoint(point) : all;
    });
  const isMapped = original !== "" && !VALID_ID.test(original) && escapeId(original) === id;
  return isMapped ? original : id;
}

const MAX_CODE_POINT = 0x10_ff_ff;

function escapeId(id: string): string {
  return (
    ESCAPE_PREFIX +
    id.replaceAll(/[^a-zA-Z0-9-]/gu, (character) => {
      return `_${(character.codePointAt(0) ?? 0).toString(16)}_`;
    })
  );
}
