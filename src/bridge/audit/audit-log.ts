import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import { isApproving } from "../../domain/policy/approval-decision.ts";
import {
  isReceipt,
  evolveLastReceipt,
  NO_RECEIPT,
  readSignature,
  createSignedContent,
  type LastReceipt,
  type Receipt,
} from "../../domain/events/receipt.ts";
import { digestValue } from "../../platform/digest.ts";
import { createToolCallTracker, type AuditedToolCall } from "./tool-call-tracker.ts";
import type { SigningKeys, SignatureCheck } from "./signing-keys.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** One receipt of a log: who let what run, or did not, and whether it is as it was written. */
export interface AuditEntry extends AuditedToolCall {
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
 * A part of the log that its receipts do not prove.
 * - `started`, `asked`, `denied`: the receipt of it is missing.
 * - `tool`: the log has another tool under the id of the call than the receipt names, or the call is in the log twice.
 * - `agent`: the log has another definition of the agent than the policy decision was made by.
 * - `shown`: the approval request has other arguments than were judged.
 * - `output`: the stored output is missing, or is not the output of the tool.
 */
export interface AuditGap {
  readonly seq: number;
  readonly at: number;
  readonly toolCallId: string;
  readonly what: "started" | "asked" | "denied" | "tool" | "agent" | "shown" | "output";
}

export interface AuditResult {
  readonly entry?: AuditEntry;
  readonly gap?: AuditGap;
}

export interface LogAudit {
  /** Takes the next event of the log, and says what it proves, or does not. */
  readonly take: (envelope: Envelope) => AuditResult;
  /** The last receipt so far. */
  readonly last: LastReceipt;
}

export function auditLog(keys: SigningKeys): LogAudit {
  let last = NO_RECEIPT;
  const receiptChecker = createReceiptChecker();
  const toolCalls = createToolCallTracker();
  const entryOf = (envelope: Envelope): AuditEntry | undefined => {
    const { seq, at, actor, event } = envelope;
    if (!isReceipt(event)) return undefined;
    receiptChecker.addReceipt(event);
    const receiptSignature = readSignature(event);
    const signature = checkSignature(keys, { ...envelope, event }, receiptSignature);
    const missing = countMissingReceipts(receiptSignature, last);
    last = evolveLastReceipt(last, event);
    const principal = actor?.principal ?? null;
    const missingField = missing === 0 ? {} : { missing };
    const call = toolCalls.describe(event);
    return { seq, at, signature, ...missingField, ...call, principal, receipt: event };
  };
  return {
    take(envelope) {
      const { seq, at, event } = envelope;
      toolCalls.add(envelope);
      const gap = receiptChecker.check(event);
      const entry = entryOf(envelope);
      return {
        ...omitUndefined({ entry }),
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
  return receipt.type !== "approvals.invalidated";
}

type ReceiptSignature = ReturnType<typeof readSignature>;

function checkSignature(
  keys: SigningKeys,
  receipt: Envelope & { readonly event: Receipt },
  receiptSignature: ReceiptSignature,
): AuditEntry["signature"] {
  if (receiptSignature === undefined) return "unsigned";
  if (receiptSignature === null) return "forged";
  return keys.check(createSignedContent(receipt, receiptSignature), receiptSignature);
}

/** One that names another than the one that stands before it has lost at least that. */
function countMissingReceipts(receiptSignature: ReceiptSignature, last: LastReceipt): number {
  const { number, before } = receiptSignature ?? {};
  if (number === undefined) return 0;
  if (number === last.number + 1 && before === last.mac) return 0;
  return Math.max(1, number - last.number - 1);
}

type GapDetails = Pick<AuditGap, "toolCallId" | "what">;

/** What a log says beside its receipts, and what has to stand before that: so the last ones are missed too. */
function createReceiptChecker() {
  const decisions = new Map<string, Extract<Receipt, { readonly type: "policy.decided" }>>();
  const resolutions = new Map<string, boolean>();
  /** The question that was last asked about a call. */
  const lastApproval = new Map<string, string>();
  /** Calls that may have run here, and those that were another's to run. */
  const startedCalls = new Set<string>();
  const externalCalls = new Set<string>();
  /** The tool of each call, as the log has it; the events that name it are not signed. */
  const toolNames = new Map<string, string>();
  /** Of the last definition in the log, computed from the definition itself. */
  let agentDigest: string | undefined;
  const findUnstarted = (toolCallId: string): GapDetails | undefined =>
    startedCalls.has(toolCallId) || externalCalls.has(toolCallId)
      ? undefined
      : { toolCallId, what: "started" };
  const findGap = (event: SessionEvent): GapDetails | undefined => {
    switch (event.type) {
      case "agent.configured":
        agentDigest = digestValue(event.spec);
        return undefined;
      case "tool_call.received": {
        const { toolCallId, toolCall, executor } = event;
        if (executor === "prompter" || toolCall.runBy === "server") externalCalls.add(toolCallId);
        if (toolNames.has(toolCallId)) return { toolCallId, what: "tool" };
        toolNames.set(toolCallId, toolCall.name);
        return undefined;
      }
      case "policy.decided": {
        const { toolCallId, decision, agent } = event;
        if (toolNames.get(toolCallId) !== decision.context.tool)
          return { toolCallId, what: "tool" };
        return agent === agentDigest ? undefined : { toolCallId, what: "agent" };
      }
      case "tool.process_started":
      case "tool.progress":
        return findUnstarted(event.toolCallId);
      case "tool.started": {
        const { toolCallId, digest, approvalId } = event;
        startedCalls.add(toolCallId);
        const receipt = decisions.get(toolCallId);
        const action = receipt?.digest === digest ? receipt.decision.action : undefined;
        const isAnswered = action === "ask" && resolutions.get(approvalId ?? "") === true;
        return action === "allow" || isAnswered ? undefined : { toolCallId, what: "started" };
      }
      case "approval.requested": {
        const { question, subjectId: toolCallId, approvalId } = event;
        lastApproval.set(toolCallId, approvalId);
        if (question === "lost-invocation") return undefined;
        if (event.decision?.context.tool !== toolNames.get(toolCallId))
          return { toolCallId, what: "tool" };
        if (question !== "run") return undefined;
        const receipt = decisions.get(toolCallId);
        if (receipt?.decision.action !== "ask") return { toolCallId, what: "asked" };
        const isAsJudged = receipt.digest === digestValue(event.input ?? {});
        return isAsJudged ? undefined : { toolCallId, what: "shown" };
      }
      case "tool.finished": {
        const { toolCallId, ending, durationMs } = event;
        // Only what ran here took its time, or did its work.
        if (ending === "succeeded" || durationMs !== undefined) return findUnstarted(toolCallId);
        if (ending !== "denied") return undefined;
        const isDenied = decisions.get(toolCallId)?.decision.action === "deny";
        const isAnswered = resolutions.get(lastApproval.get(toolCallId) ?? "") === false;
        return isDenied || isAnswered ? undefined : { toolCallId, what: "denied" };
      }
      default:
        return undefined;
    }
  };
  return {
    addReceipt(receipt: Receipt): void {
      if (receipt.type === "policy.decided") decisions.set(receipt.toolCallId, receipt);
      // Nobody answered a question that a change closed: its call is judged anew.
      if (receipt.type !== "approval.resolved" || receipt.resolvedBy === "change") return;
      resolutions.set(receipt.approvalId, isApproving(receipt.decision));
    },
    check: findGap,
  };
}
