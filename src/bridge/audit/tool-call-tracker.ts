import type { Envelope } from "../../domain/events/envelope.ts";
import type { JsonObject } from "../../data/json.ts";
import { isApproving } from "../../domain/policy/approval-decision.ts";
import type { Receipt } from "../../domain/events/receipt.ts";
import { digestValue } from "../../platform/digest.ts";

/** What the log says of a decided call beside the receipt. */
export interface AuditedToolCall {
  /** The log has other arguments than those that were judged, which the receipt has a digest of. */
  readonly isChanged?: true;
  /** What the call of an MCP server's tool was made with: its receipt says little else of it. */
  readonly input?: JsonObject;
  /** Who allowed it for good, where that let it run; null where the log does not have that. */
  readonly grant?: AuditedGrant | null;
}

export interface AuditedGrant {
  readonly grantId: string;
  /** Null for an unknown principal. */
  readonly principal: string | null;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Keeps what the events of one log say of its calls, in order. */
export function createToolCallTracker() {
  /** As they were called with, or as an approver rewrote them. */
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
