import type { Envelope } from "../../domain/events/envelope.ts";
import type { JsonObject } from "../../data/json.ts";
import { isApproving } from "../../domain/policy/approval-decision.ts";
import type { Receipt } from "../../domain/events/receipt.ts";
import { digestValue } from "../../platform/digest.ts";

/** Facts of the log about an evaluated tool call, in addition to the receipt. */
export interface AuditedToolCall {
  /** True if the arguments in the log differ from the digest in the receipt. */
  readonly isChanged?: true;
  /** The arguments of an MCP tool call, since its receipt contains few other facts. */
  readonly input?: JsonObject;
  /** The grant that allowed the tool call. Null if the log does not contain the grant. Undefined without a grant. */
  readonly grant?: AuditedGrant | null;
}

export interface AuditedGrant {
  readonly grantId: string;
  /** Null for an unknown principal. */
  readonly principal: string | null;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Tracks arguments and grants while the events of one log are read in order. */
export function createToolCallTracker() {
  /** The arguments of each call, as received or as changed by an approver. */
  const inputs = new Map<string, JsonObject>();
  const aboutByApproval = new Map<string, string>();
  const grants = new Map<string, AuditedGrant>();
  const hasOtherArguments = (toolCallId: string, digest: string): boolean =>
    digestValue(inputs.get(toolCallId) ?? {}) !== digest;
  return {
    add({ event, at, actor }: Envelope): void {
      switch (event.type) {
        case "tool_call.received":
          inputs.set(event.toolCallId, event.toolCall.input ?? {});
          return;
        case "approval.requested":
          aboutByApproval.set(event.approvalId, event.subjectId);
          return;
        case "approval.resolved": {
          const { approvalId, decision, input } = event;
          const about = aboutByApproval.get(approvalId);
          if (about !== undefined && input !== undefined && isApproving(decision))
            inputs.set(about, input);
          return;
        }
        case "grant.added": {
          const { grantId } = event;
          grants.set(grantId, { grantId, principal: actor?.principal ?? null, at });
          return;
        }
        default:
      }
    },
    describe(receipt: Receipt): AuditedToolCall {
      if (receipt.type !== "policy.decided") return {};
      const { toolCallId, digest, grantId, decision } = receipt;
      const isChanged = hasOtherArguments(toolCallId, digest);
      const input = inputs.get(toolCallId);
      const includesInput = decision.context.mcpServer !== undefined && !isChanged;
      return {
        ...(isChanged && { isChanged }),
        ...(includesInput && input !== undefined && { input }),
        ...(grantId !== undefined && { grant: grants.get(grantId) ?? null }),
      };
    },
  };
}
