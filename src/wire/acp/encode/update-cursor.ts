import type { Cursor } from "../../../domain/events/envelope.ts";
import { isObject } from "../../../data/json.ts";

/**
 * A position in the updates of a session: after the event `seq`, and after `updateOffset` updates of the following
 * event. An event may yield several updates, and a connection may close between them.
 *
 * With `seq` 0 the offset counts the updates of a replay, because a replay splits text differently from live updates.
 */
export interface UpdateCursor extends Cursor {
  readonly updateOffset: number;
}

export function formatUpdateCursor({ incarnation, seq, updateOffset }: UpdateCursor): string {
  return updateOffset === 0 ? `${incarnation}.${seq}` : `${incarnation}.${seq}+${updateOffset}`;
}

/** Returns undefined if the text is not a cursor. */
export function parseUpdateCursor(text: string): UpdateCursor | undefined {
  const [, incarnation, seq, updateOffset = "0"] =
    /^([!-~]{1,200})\.(\d{1,15})(?:\+(\d{1,15}))?$/.exec(text) ?? [];
  if (incarnation === undefined || seq === undefined) return undefined;
  return { incarnation, seq: Number(seq), updateOffset: Number(updateOffset) };
}

/** Encodes the cursor for messages to a client. */
export function encodeCursorMeta(cursor: string): { readonly _meta: { readonly harn: object } } {
  return { _meta: { harn: { cursor } } };
}

/** Reads the cursor of a request. Undefined if the request has none. */
export function readCursorMeta(meta: unknown): unknown {
  const harn = isObject(meta) ? meta["harn"] : undefined;
  return isObject(harn) ? harn["cursor"] : undefined;
}
