import { SpanlineError } from "../../../domain/errors.ts";

const VALID_ID = /^[a-zA-Z0-9_-]{1,64}$/;
const ESCAPE_PREFIX = "x--";
const MAX_ID_LENGTH = 64;

/**
 * Converts a tool call id to the characters accepted by Harness. Other models use dots, colons and other characters,
 * which are escaped as their code points. `toOriginalToolCallId` restores the id without stored state.
 *
 * Throws `invalid_tool` if the escaped id has more than 64 characters.
 */
export function toHarnessToolCallId(id: string): string {
  if (VALID_ID.test(id)) return id;
  const mapped = escapeId(id);
  if (id !== "" && mapped.length <= MAX_ID_LENGTH) return mapped;
  const message = `The tool call id "${id.slice(0, MAX_ID_LENGTH)}" cannot be written for Harness: expected at most ${MAX_ID_LENGTH} letters, digits, "_" and "-"`;
  throw new SpanlineError("invalid_tool", message);
}

/**
 * Restores the original id. An id which only resembles an escaped id, and is valid unescaped, is returned unchanged.
 */
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
