import { BoundedCache } from "../../../data/bounded-cache.ts";
import { isObject } from "../../../data/json.ts";
import { encodeNotificationLine } from "../../jsonrpc/rpc-line.ts";
import { encodeUpdateLine, type AcpSessionUpdate } from "./acp-session-update.ts";
import { encodeCursorMeta } from "./update-cursor.ts";
import type { VendorUpdate } from "./vendor-updates.ts";

/**
 * Encodes updates as lines and caches them, so an update for many clients is encoded once. The cache holds up to
 * 1,000,000 characters.
 */
export interface LineCache {
  encodeUpdate(sessionId: string, update: AcpSessionUpdate, cursor?: string): string;
  /** Encodes a vendor update as a `_harn/agentEvent` notification, for clients whose SDK drops unknown updates. */
  encodeEvent(sessionId: string, update: VendorUpdate, cursor?: string): string;
}

export function createLineCache(): LineCache {
  const cache = new BoundedCache<readonly CachedLine[]>(MAX_CACHED_CHARACTERS);

  /**
   * Clients with different profiles receive different updates at the same cursor. Lines of the same cursor are
   * distinguished by comparing the updates.
   */
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
    // Without a cursor the position in the log is unknown, so the line is not cached.
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

/** Returns true if both values serialize to the same JSON. Comparing is cheaper than encoding. */
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
/** Estimated memory of a cached line in addition to its characters. */
const LINE_OVERHEAD = 500;

/**
 * Encodes a vendor update as a `_harn/agentEvent` notification. Meant for hosts whose SDK rejects a whole notification
 * with an unknown `sessionUpdate`.
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

/** The event's own `kind` is the name of the update, so a field `kind` is renamed to `artifactKind` or `hitlKind`. */
function encodeAgentEvent({ sessionUpdate, _meta }: VendorUpdate): object {
  const { kind, ...fields }: { readonly kind?: unknown } = _meta.harn;
  const [family] = sessionUpdate.split("_");
  return {
    kind: sessionUpdate,
    ...fields,
    ...(kind !== undefined && { [`${family}Kind`]: kind }),
  };
}
