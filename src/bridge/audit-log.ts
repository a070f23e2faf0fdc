import type { AgentEvent } from "../domain/agent-event.ts";
import type { Envelope } from "../domain/envelope.ts";
import { isYes } from "../domain/no-to.ts";
import {
  isReceipt,
  lastReceipt,
  NO_RECEIPT,
  signedContent,
  type LastReceipt,
  type Receipt,
} from "../domain/receipt.ts";
import type { SigningKeys, SignatureCheck } from "./signing-keys.ts";

/** One receipt of a log: who let what run, or did not, and whether it is as it was written. */
export interface AuditEntry {
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly signature: SignatureCheck | "unsigned";
  /** How many receipts were taken out before it. */
  readonly missing?: number;
  /** Whoever brought it about; null for the session itself. */
  readonly principal: string | null;
  readonly receipt: Receipt;
}

/** Something that has no receipt, though it never is without. */
export interface AuditGap {
  readonly seq: number;
  readonly at: number;
  readonly toolCallId: string;
  readonly what: "started" | "asked" | "denied";
}

export interface Audited {
  readonly entry?: AuditEntry;
  readonly gap?: AuditGap;
}

/** Takes the events of one log, in order, and says what each of them proves, or does not. */
export function auditLog(keys: SigningKeys): (envelope: Envelope) => Audited {
  let last = NO_RECEIPT;
  const owed = owedReceipts();
  return (envelope) => {
    const { seq, at, actor, event } = envelope;
    if (!isReceipt(event)) {
      const gap = owed.check(event);
      return gap === undefined ? {} : { gap: { seq, at, ...gap } };
    }
    owed.take(event);
    const signature = checkedBy(keys, envelope, event);
    const missing = missingBefore(event, last);
    last = lastReceipt(last, event);
    const principal = actor?.principal ?? null;
    const before = missing === 0 ? {} : { missing };
    return { entry: { seq, at, signature, ...before, principal, receipt: event } };
  };
}

/** A log may have been changed into what no program of ours writes. */
function checkedBy(keys: SigningKeys, envelope: Envelope, event: Receipt): AuditEntry["signature"] {
  if (event.signature === undefined) return "unsigned";
  const { keyId, mac, number, before } = Object(event.signature);
  if (typeof keyId !== "string" || typeof mac !== "string") return "forged";
  return keys.check(signedContent({ ...envelope, event }, { number, before }), { keyId, mac });
}

/** One that names another than the one that stands before it has lost at least that. */
function missingBefore({ signature }: Receipt, last: LastReceipt): number {
  const { number, before } = signature ?? {};
  if (number === undefined) return 0;
  if (number === last.number + 1 && before === last.mac) return 0;
  return Math.max(1, number - last.number - 1);
}

type Gap = Pick<AuditGap, "toolCallId" | "what">;

/** What a log says beside its receipts, and what has to stand before that: so the last ones are missed too. */
function owedReceipts() {
  const decided = new Map<string, Extract<Receipt, { readonly type: "policy.decided" }>>();
  const answered = new Map<string, boolean>();
  /** The question that was last asked about a call. */
  const asked = new Map<string, string>();
  const gapIn = (event: AgentEvent): Gap | undefined => {
    switch (event.type) {
      case "tool.started": {
        const { toolCallId, digest, approvalId } = event;
        const receipt = decided.get(toolCallId);
        const action = receipt?.digest === digest ? receipt.decision.action : undefined;
        const isAnswered = action === "ask" && answered.get(approvalId ?? "") === true;
        return action === "allow" || isAnswered ? undefined : { toolCallId, what: "started" };
      }
      case "approval.requested": {
        const { question, about: toolCallId, approvalId } = event;
        asked.set(toolCallId, approvalId);
        if (question !== "run") return undefined;
        const isAsked = decided.get(toolCallId)?.decision.action === "ask";
        return isAsked ? undefined : { toolCallId, what: "asked" };
      }
      case "tool.finished": {
        const { toolCallId, ending } = event;
        if (ending !== "denied") return undefined;
        const isDenied = decided.get(toolCallId)?.decision.action === "deny";
        const isAnswered = answered.get(asked.get(toolCallId) ?? "") === false;
        return isDenied || isAnswered ? undefined : { toolCallId, what: "denied" };
      }
      default:
        return undefined;
    }
  };
  return {
    take(receipt: Receipt): void {
      if (receipt.type === "policy.decided") decided.set(receipt.toolCallId, receipt);
      if (receipt.type !== "approval.resolved") return;
      answered.set(receipt.approvalId, isYes(receipt.decision));
    },
    check: gapIn,
  };
}
