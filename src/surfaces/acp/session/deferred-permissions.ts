import type { AcpOutput } from "../../../wire/acp/encode/update-state.ts";
import type { DeliverOutput } from "./stamp-cursors.ts";

/** Questions to a client that goes on from a cursor: what was answered since is not asked. */
export interface DeferredPermissions {
  readonly deliver: DeliverOutput;
  /** The client has all that was there when it came. */
  release(): void;
}

export function createDeferredPermissions(deliver: DeliverOutput): DeferredPermissions {
  const deferred = new Map<string, AcpOutput>();
  let isReplaying = true;
  return {
    deliver(output, cursor) {
      if (isReplaying && output.type === "ask") deferred.set(output.approval.approvalId, output);
      // Where the cursor is, and not where the log is.
      else if (isReplaying && output.type === "caught-up") return;
      else {
        if (output.type === "decided") deferred.delete(output.approvalId);
        deliver(output, cursor);
      }
    },
    release() {
      if (!isReplaying) return;
      isReplaying = false;
      deliver({ type: "caught-up" });
      for (const output of deferred.values()) deliver(output);
      deferred.clear();
    },
  };
}
