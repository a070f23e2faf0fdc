import { omitUndefined } from "../../data/omit-undefined.ts";
import { formatIsoTime } from "../../text/format-iso-time.ts";
import { encodeMessage } from "./encode-v03.ts";
import type { Dialect } from "./dialect.ts";
import { isTerminalState, type PlacedUpdate } from "./task.ts";

/**
 * Adds the bridge protocol's own entries to a dialect: workers, plans and statuses have their fields at the root of the
 * stream entry. Tasks and artifacts keep the form of the dialect.
 */
export function withTaskStream(dialect: Dialect): Dialect {
  return {
    ...dialect,
    encodeUpdate: (placed) => encodeEntry(placed) ?? dialect.encodeUpdate(placed),
  };
}

function encodeEntry(placed: PlacedUpdate): object | undefined {
  const { taskId, contextId, sequence, update } = placed;
  const place = { taskId, contextId, sequence };
  switch (update.type) {
    case "worker_update":
      return { type: "worker_update", ...place, ...update.update };
    case "harn_plan": {
      const { entries, plan } = update;
      return { type: "harn_plan", ...place, entries, ...omitUndefined({ plan }) };
    }
    case "status": {
      const { state, message, at, reason } = update.status;
      const status = {
        state,
        ...(message !== undefined && { message: encodeMessage(message, placed) }),
        timestamp: formatIsoTime(at),
        ...omitUndefined({ reason }),
      };
      return { type: "status", ...place, status, final: isTerminalState(state) };
    }
    case "task":
    case "artifact":
      return undefined;
    default:
      return update satisfies never;
  }
}
