import type { Envelope } from "../domain/envelope.ts";
import type { JsonObject } from "../domain/json.ts";
import { isYes } from "../domain/answers.ts";
import type { Receipt } from "../domain/receipt.ts";
import { digestOf } from "../platform/digest.ts";

/** What the log says of a decided call beside the receipt. */
export interface AuditedCall {
  /** The log has other arguments than those that were judged, which the receipt has a digest of. */
  readonly isChanged?: true;
  /** What the call of an MCP server's tool was made with: its receipt says little else of it. */
  readonly input?: JsonObject;
  /** Who allowed it for good, where that let it run; null where the log does not have that. */
  readonly grant?: GivenGrant | null;
}

export interface GivenGrant {
  readonly grantId: string;
  /** Null for nobody known. */
  readonly principal: string | null;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Keeps what the events of one log say of its calls, in order. */
export function auditCalls() {
  /** As they were called with, or as an approver rewrote them. */
  const inputs = new Map<string, JsonObject>();
  const asked = new Map<string, string>();
  const grants = new Map<string, GivenGrant>();
  const isOther = (toolCallId: string, digest: string): boolean =>
    digestOf(inputs.get(toolCallId) ?? {}) !== digest;
  return {
    take({ event, at, actor }: Envelope): void {
      switch (event.type) {
        case "tool.called":
          inputs.set(event.toolCallId, event.call.input ?? {});
          return;
        case "approval.requested":
          asked.set(event.approvalId, event.about);
          return;
        case "approval.resolved": {
          const { approvalId, decision, input } = event;
          const about = asked.get(approvalId);
          if (about !== undefined && input !== undefined && isYes(decision))
            inputs.set(about, input);
          return;
        }
        case "grant.given": {
          const { grantId } = event;
          grants.set(grantId, { grantId, principal: actor?.principal ?? null, at });
          return;
        }
        default:
      }
    },
    of(receipt: Receipt): AuditedCall {
      if (receipt.type !== "policy.decided") return {};
      const { toolCallId, digest, grantId, decision } = receipt;
      const isChanged = isOther(toolCallId, digest);
      const input = inputs.get(toolCallId);
      const isShown = decision.context.mcpServer !== undefined && !isChanged;
      return {
        ...(isChanged && { isChanged }),
        ...(isShown && input !== undefined && { input }),
        ...(grantId !== undefined && { grant: grants.get(grantId) ?? null }),
      };
    },
  };
}
