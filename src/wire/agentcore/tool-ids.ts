import { SpanlineError } from "../../domain/errors.ts";

const FITS = /^[a-zA-Z0-9_-]{1,64}$/;
const MARK = "x--";
const LONGEST = 64;

/**
 * The id of a call as Harness takes it. Models behind other doors also put dots, colons and more into theirs; those
 * characters become their numbers, so that `originalCallId` finds the way back without any memory.
 */
export function harnessCallId(id: string): string {
  if (FITS.test(id)) return id;
  const mapped = escaped(id);
  if (id !== "" && mapped.length <= LONGEST) return mapped;
  const message = `The call id "${id.slice(0, LONGEST)}" cannot be written as Harness wants it: at most ${LONGEST} letters, digits, "_" and "-"`;
  throw new SpanlineError("invalid_tool", message);
}

/** An id that only looks like a mapped one, and fits as it is, was never mapped. */
export function originalCallId(id: string): string {
  if (!id.startsWith(MARK)) return id;
  const original = id.slice(MARK.length).replaceAll(/_([0-9a-f]{1,6})_/g, (all, code: string) => {
    const point = Number.parseInt(code, 16);
    return point <= LAST_CODE_POINT ? String.fromCodePoint(point) : all;
  });
  const isMapped = original !== "" && !FITS.test(original) && escaped(original) === id;
  return isMapped ? original : id;
}

const LAST_CODE_POINT = 0x10_ff_ff;

function escaped(id: string): string {
  return (
    MARK +
    id.replaceAll(/[^a-zA-Z0-9-]/gu, (character) => {
      return `_${(character.codePointAt(0) ?? 0).toString(16)}_`;
    })
  );
}
