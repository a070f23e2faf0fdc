import type { AgentEvent } from "../domain/agent-event.ts";
import type { Envelope } from "../domain/envelope.ts";
import { isYes } from "../domain/answers.ts";
import {
  isReceipt,
  lastReceipt,
  NO_RECEIPT,
  signatureOf,
  signedContent,
  type LastReceipt,
  type Receipt,
} from "../domain/receipt.ts";
import { digestOf } from "../platform/digest.ts";
import { auditCalls, type AuditedCall } from "./audit-calls.ts";
import type { SigningKeys, SignatureCheck } from "./signing-keys.ts";

/** One receipt of a log: who let what run, or did not, and whether it is as it was written. */
export interface AuditEntry extends AuditedCall {
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

/**
 * Something that has no receipt, though it never is without. `shown`: people were shown other arguments than were judged;
 * `output`: the stored output is missing, or is not the output of the tool.
 */
export interface AuditGap {
  readonly seq: number;
  readonly at: number;
  readonly toolCallId: string;
  readonly what: "started" | "asked" | "denied" | "shown" | "output";
}

export interface Audited {
  readonly entry?: AuditEntry;
  readonly gap?: AuditGap;
}

export interface LogAudit {
  /** Takes the next event of the log, and says what it proves, or does not. */
  readonly take: (envelope: Envelope) => Audited;
  /** The last receipt so far. */
  readonly last: LastReceipt;
}

export function auditLog(keys: SigningKeys): LogAudit {
  let last = NO_RECEIPT;
  const owed = owedReceipts();
  const calls = auditCalls();
  const entryOf = (envelope: Envelope): AuditEntry | undefined => {
    const { seq, at, actor, event } = envelope;
    if (!isReceipt(event)) return undefined;
    owed.take(event);
    const signed = signatureOf(event);
    const signature = checkedBy(keys, { ...envelope, event }, signed);
    const missing = missingBefore(signed, last);
    last = lastReceipt(last, event);
    const principal = actor?.principal ?? null;
    const before = missing === 0 ? {} : { missing };
    const call = calls.of(event);
    return { seq, at, signature, ...before, ...call, principal, receipt: event };
  };
  return {
    take(envelope) {
      const { seq, at, event } = envelope;
      calls.take(envelope);
      const gap = owed.check(event);
      const entry = entryOf(envelope);
      return {
        ...(entry !== undefined && { entry }),
        ...(gap !== undefined && { gap: { seq, at, ...gap } }),
      };
    },
    get last() {
      return last;
    },
  };
}

/** Whether the receipt is as it was written, and so is everything before it. A log that was doubted says so itself. */
export function isProven({ signature, missing = 0, isChanged, receipt }: AuditEntry): boolean {
  if (signature !== "valid" || missing > 0 || isChanged === true) return false;
  return receipt.type !== "approvals.doubted";
}

type Signed = ReturnType<typeof signatureOf>;

function checkedBy(
  keys: SigningKeys,
  receipt: Envelope & { readonly event: Receipt },
  signed: Signed,
): AuditEntry["signature"] {
  if (signed === undefined) return "unsigned";
  if (signed === null) return "forged";
  return keys.check(signedContent(receipt, signed), signed);
}

/** One that names another than the one that stands before it has lost at least that. */
function missingBefore(signed: Signed, last: LastReceipt): number {
  const { number, before } = signed ?? {};
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
  /** Calls that may have run here, and those that were another's to run. */
  const started = new Set<string>();
  const elsewhere = new Set<string>();
  const neverStarted = (toolCallId: string): Gap | undefined =>
    started.has(toolCallId) || elsewhere.has(toolCallId)
      ? undefined
      : { toolCallId, what: "started" };
  const gapIn = (event: AgentEvent): Gap | undefined => {
    switch (event.type) {
      case "tool.called":
        if (event.executor === "prompter" || event.call.runBy === "server")
          elsewhere.add(event.toolCallId);
        return undefined;
      case "tool.spawned":
      case "tool.progressed":
        return neverStarted(event.toolCallId);
      case "tool.started": {
        const { toolCallId, digest, approvalId } = event;
        started.add(toolCallId);
        const receipt = decided.get(toolCallId);
        const action = receipt?.digest === digest ? receipt.decision.action : undefined;
        const isAnswered = action === "ask" && answered.get(approvalId ?? "") === true;
        return action === "allow" || isAnswered ? undefined : { toolCallId, what: "started" };
      }
      case "approval.requested": {
        const { question, about: toolCallId, approvalId } = event;
        asked.set(toolCallId, approvalId);
        if (question !== "run") return undefined;
        const receipt = decided.get(toolCallId);
        if (receipt?.decision.action !== "ask") return { toolCallId, what: "asked" };
        const isAsJudged = receipt.digest === digestOf(event.input ?? {});
        return isAsJudged ? undefined : { toolCallId, what: "shown" };
      }
      case "tool.finished": {
        const { toolCallId, ending, durationMs } = event;
        // Only what ran here took its time, or did its work.
        if (ending === "succeeded" || durationMs !== undefined) return neverStarted(toolCallId);
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
      // Nobody answered a question that a change closed: its call is judged anew.
      if (receipt.type !== "approval.resolved" || receipt.by === "change") return;
      answered.set(receipt.approvalId, isYes(receipt.decision));
    },
    check: gapIn,
  };
}
