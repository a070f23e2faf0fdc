import { notificationLine } from "../jsonrpc/write-message.ts";
import { cursorMeta } from "./update-cursor.ts";
import type { VendorUpdate } from "./vendor-updates.ts";

/**
 * An update of the bridge's own, for a host whose SDK throws a whole notification away, and complains, when it does not know
 * its `sessionUpdate`.
 */
export function agentEventLine(sessionId: string, update: VendorUpdate, cursor?: string): string {
  const place = cursor === undefined ? {} : cursorMeta(cursor);
  return notificationLine("_harn/agentEvent", { sessionId, ...agentEvent(update), ...place });
}

/** A field `kind` would be taken for the event's own: it is `artifactKind` or `hitlKind` here. */
function agentEvent({ sessionUpdate, _meta }: VendorUpdate): object {
  const { kind, ...fields }: { readonly kind?: unknown } = _meta.harn;
  const [family] = sessionUpdate.split("_");
  return {
    kind: sessionUpdate,
    ...fields,
    ...(kind !== undefined && { [`${family}Kind`]: kind }),
  };
}
