import { BoundedCache } from "../../../data/bounded-cache.ts";
import { isObject } from "../../../data/json.ts";
import { encodeNotificationLine } from "../../jsonrpc/rpc-line.ts";
import { encodeUpdateLine, type AcpSessionUpdate } from "./acp-session-update.ts";
import { encodeCursorMeta } from "./update-cursor.ts";
import type { VendorUpdate } from "./vendor-updates.ts";

/** What clients are told, as lines. Where many are told the same at about the same time, it is written out once for all. */
export interface LineCache {
  encodeUpdate(sessionId: string, update: AcpSessionUpdate, cursor?: string): string;
  /** The same for a client that would not know it as an update. */
  encodeEvent(sessionId: string, update: VendorUpdate, cursor?: string): string;
}

export function createLineCache(): LineCache {
  const cache = new BoundedCache<readonly CachedLine[]>(MAX_CACHED_CHARACTERS);

  /** Clients of several profiles are told different things at one place; which is which the updates say themselves. */
  function encodeOnce(name: string, update: object, write: () => string): string {
    const cachedLines = cache.get(name) ?? [];
    const same = cachedLines.find((cachedLine) => isEqualJson(cachedLine.update, update));
    if (same !== undefined) return same.line;
    const lines = [...cachedLines, { update, line: write() }].slice(-MAX_PROFILES);
    const characters = lines.reduce((sum, { line }) => sum + line.length + LINE_OVERHEAD, 0);
    cache.set(name, lines, characters);
    return lines.at(-1)?.line ?? "";
  }

  return {
    // Without a cursor nobody knows whether two are at the same place.
    encodeUpdate: (sessionId, update, cursor) =>
      cursor === undefined
        ? encodeUpdateLine(sessionId, update)
        : encodeOnce(`${sessionId} ${cursor}`, update, () =>
            encodeUpdateLine(sessionId, update, cursor),
          ),
    encodeEvent: (sessionId, update, cursor) =>
      cursor === undefined
        ? encodeAgentEventLine(sessionId, update)
        : encodeOnce(`${sessionId} ${cursor} event`, update, () =>
            encodeAgentEventLine(sessionId, update, cursor),
          ),
  };
}

interface CachedLine {
  readonly update: object;
  readonly line: string;
}

/** Whether both would be written the same. To look costs less than to write. */
function isEqualJson(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    return left.length === right.length && left.every((item, at) => isEqualJson(item, right[at]));
  }
  if (!isObject(left) || !isObject(right)) return false;
  const names = Object.keys(left);
  const rightNames = Object.keys(right);
  return (
    names.length === rightNames.length &&
    names.every((name, at) => rightNames[at] === name && isEqualJson(left[name], right[name]))
  );
}

const MAX_CACHED_CHARACTERS = 1_000_000;
const MAX_PROFILES = 4;
/** Roughly what a line takes in memory beside its characters. */
const LINE_OVERHEAD = 500;

/**
 * An update of the bridge's own, for a host whose SDK throws a whole notification away, and complains, when it does not know
 * its `sessionUpdate`.
 */
export function encodeAgentEventLine(
  sessionId: string,
  update: VendorUpdate,
  cursor?: string,
): string {
  const cursorFields = cursor === undefined ? {} : encodeCursorMeta(cursor);
  return encodeNotificationLine("_harn/agentEvent", {
    sessionId,
    ...encodeAgentEvent(update),
    ...cursorFields,
  });
}

/** A field `kind` would be taken for the event's own: it is `artifactKind` or `hitlKind` here. */
function encodeAgentEvent({ sessionUpdate, _meta }: VendorUpdate): object {
  const { kind, ...fields }: { readonly kind?: unknown } = _meta.harn;
  const [family] = sessionUpdate.split("_");
  return {
    kind: sessionUpdate,
    ...fields,
    ...(kind !== undefined && { [`${family}Kind`]: kind }),
  };
}
