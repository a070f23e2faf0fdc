import type { Cursor } from "../../domain/events/envelope.ts";

/** Formats a cursor for a frame or for the id of a server-sent event. */
export function formatCursor({ incarnation, seq }: Cursor): string {
  return `${incarnation}.${seq}`;
}

/** Undefined if the text is not a cursor. */
export function parseCursor(text: string): Cursor | undefined {
  const [, incarnation, digits] = /^([!-~]{1,200})\.(\d{1,15})$/.exec(text) ?? [];
  if (incarnation === undefined || digits === undefined) return undefined;
  return { incarnation, seq: Number(digits) };
}
