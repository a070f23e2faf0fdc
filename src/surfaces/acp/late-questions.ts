import type { AcpOutput } from "../../wire/acp/update-state.ts";
import type { Deliver } from "./told-places.ts";

/** Questions to a client that goes on from a cursor: what was answered since is not asked. */
export interface LateQuestions {
  readonly deliver: Deliver;
  /** The client has all that was there when it came. */
  caughtUp(): void;
}

export function lateQuestions(deliver: Deliver): LateQuestions {
  const asked = new Map<string, AcpOutput>();
  let isBehind = true;
  return {
    deliver(output, cursor) {
      if (isBehind && output.type === "ask") asked.set(output.approval.approvalId, output);
      // Where the cursor is, and not where the log is.
      else if (isBehind && output.type === "caught-up") return;
      else {
        if (output.type === "decided") asked.delete(output.approvalId);
        deliver(output, cursor);
      }
    },
    caughtUp() {
      if (!isBehind) return;
      isBehind = false;
      deliver({ type: "caught-up" });
      for (const output of asked.values()) deliver(output);
      asked.clear();
    },
  };
}
