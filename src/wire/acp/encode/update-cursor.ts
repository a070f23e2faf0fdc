import type { Cursor } from "../../../domain/events/envelope.ts";
import { isObject } from "../../../data/json.ts";

/**
 * A place in what a client is told of a session: behind an event, and behind so many of the updates that follow it. An event
 * can come to several updates, and a connection can end between them.
 *
 * Behind event 0 it is a place in what was said before the client came, which is told in other pieces than what is live.
 */
export interface UpdateCursor extends Cursor {
  readonly updateOffset: number;
}

export function formatUpdateCursor({ incarnation, seq, updateOffset }: UpdateCursor): string {
  return updateOffset === 0 ? `${incarnation}.${seq}` : `${incarnation}.${seq}+${updateOffset}`;
}

/** Undefined for what is no cursor. */
export function parseUpdateCursor(text: string): UpdateCursor | undefined {
  const [, incarnation, seq, updateOffset = "0"] =
    /^([!-~]{1,200})\.(\d{1,15})(?:\+(\d{1,15}))?$/.exec(text) ?? [];
  if (incarnation === undefined || seq === undefined) return undefined;
  return { incarnation, seq: Number(seq), updateOffset: Number(updateOffset) };
}

/** Where a message of ours has it. */
export function encodeCursorMeta(cursor: string): { readonly _meta: { readonly harn: object } } {
  return { _meta: { harn: { cursor } } };
}

/** Where a request has it; undefined where it has none. */
export function readCursorMeta(meta: unknown): unknown {
  const harn = isObject(meta) ? meta["harn"] : undefined;
  return isObject(harn) ? harn["cursor"] : undefined;
}
