import { encodeNotificationLine } from "../../jsonrpc/encode-message.ts";
import { encodeCursorMeta } from "./update-cursor.ts";
import type { VendorUpdate } from "./vendor-updates.ts";

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
