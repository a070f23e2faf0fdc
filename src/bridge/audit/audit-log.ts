import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import { isApproving, isAboutToolCall } from "../../domain/policy/approval-decision.ts";
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

/**
 * One receipt of a log with the result of its verification: a policy decision, an approval, a tool start or a tool
 * result.
 */
export interface AuditEntry extends AuditedToolCall {
  readonly seq: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly signature: SignatureCheck | "unsigned";
  /** Number of receipts missing before this receipt. */
  readonly missing?: number;
  /** The principal who caused the event. Null if the session caused it by itself. */
  readonly principal: string | null;
  readonly receipt: Receipt;
}

/**
 * A part of the log which its receipts do not prove.
 * - `started`, `asked`, `denied`: the receipt for this event is missing.
 * - `tool`: the tool of the call differs between log and receipt, or the call is in the log twice.
 * - `agent`: the agent definition in the log differs from the definition used for the policy decision.
 * - `shown`: the arguments in the approval request differ from the evaluated arguments.
 * - `output`: the stored output is missing, or differs from the output of the tool.
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
  /**
   * Reads the next event of the log. Returns an entry for a receipt, and a gap for an event without the necessary
   * receipts.
   */
  readonly take: (envelope: Envelope) => AuditResult;
  /** The last receipt so far. */
  readonly last: LastReceipt;
}

export function auditLog(keys: SigningKeys): LogAudit {
  let last = NO_RECEIPT;
  const receiptChecker = new ReceiptChecker();
  const toolCalls = createToolCallTracker();
  const createEntry = (envelope: Envelope): AuditEntry | undefined => {
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
      const entry = createEntry(envelope);
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

/**
 * True if the receipt is unchanged and no receipt is missing before it. `approvals.invalidated` is never proven,
 * because the event itself records a failed verification.
 */
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

/**
 * Counts the receipts missing between `last` and this receipt. At least one is missing if the receipt names a
 * predecessor other than `last`.
 */
function countMissingReceipts(receiptSignature: ReceiptSignature, last: LastReceipt): number {
  const { number, before } = receiptSignature ?? {};
  if (number === undefined) return 0;
  if (number === last.number + 1 && before === last.mac) return 0;
  return Math.max(1, number - last.number - 1);
}

type GapDetails = Pick<AuditGap, "toolCallId" | "what">;
type EventWithType<Type> = Extract<SessionEvent, { readonly type: Type }>;
type ReceiptWithType<Type> = Extract<Receipt, { readonly type: Type }>;

/**
 * Checks events that need an earlier receipt. Without this check, receipts removed at the end of the log would go
 * unnoticed.
 */
class ReceiptChecker {
  readonly #decisions = new Map<string, ReceiptWithType<"policy.decided">>();
  readonly #resolutions = new Map<string, boolean>();
  /** The latest approval of each tool call. */
  readonly #lastApproval = new Map<string, string>();
  /** Tool calls that may have run here, and tool calls run by the provider or by an HTTP client. */
  readonly #startedCalls = new Set<string>();
  readonly #externalCalls = new Set<string>();
  /** Tool calls of the agent that ask a person. */
  readonly #questionCalls = new Set<string>();
  /** The tool of each call according to the log. Events with the tool's name are not signed. */
  readonly #toolNames = new Map<string, string>();
  /** Digest of the last agent definition in the log, computed from the definition itself. */
  #agentDigest: string | undefined;

  addReceipt(receipt: Receipt): void {
    if (receipt.type === "policy.decided") this.#decisions.set(receipt.toolCallId, receipt);
    // An approval closed by a change has no decision: the policy evaluates its tool call again.
    if (receipt.type !== "approval.resolved" || receipt.resolvedBy === "change") return;
    this.#resolutions.set(receipt.approvalId, isApproving(receipt.decision));
  }

  check(event: SessionEvent): GapDetails | undefined {
    switch (event.type) {
      case "agent.configured":
        this.#agentDigest = digestValue(event.spec);
        return undefined;
      case "tool_call.received":
        return this.#checkToolCall(event);
      case "policy.decided":
        return this.#checkPolicyDecision(event);
      case "tool.process_started":
      case "tool.progress":
        return this.#checkStarted(event.toolCallId);
      case "tool.started":
        return this.#checkStart(event);
      case "approval.requested":
        return this.#checkApprovalRequest(event);
      case "tool.finished":
        return this.#checkFinish(event);
      default:
        return undefined;
    }
  }

  #checkToolCall(event: EventWithType<"tool_call.received">): GapDetails | undefined {
    const { toolCallId, toolCall, executor } = event;
    const isExternal = executor === "prompter" || toolCall.runBy === "server";
    if (isExternal) this.#externalCalls.add(toolCallId);
    if (this.#toolNames.has(toolCallId)) return { toolCallId, what: "tool" };
    this.#toolNames.set(toolCallId, toolCall.name);
    return undefined;
  }

  #checkPolicyDecision(event: EventWithType<"policy.decided">): GapDetails | undefined {
    const { toolCallId, decision, agent } = event;
    if (this.#toolNames.get(toolCallId) !== decision.context.tool)
      return { toolCallId, what: "tool" };
    return agent === this.#agentDigest ? undefined : { toolCallId, what: "agent" };
  }

  #checkStarted(toolCallId: string): GapDetails | undefined {
    return this.#startedCalls.has(toolCallId) || this.#externalCalls.has(toolCallId)
      ? undefined
      : { toolCallId, what: "started" };
  }

  #checkStart(event: EventWithType<"tool.started">): GapDetails | undefined {
    const { toolCallId, digest, approvalId } = event;
    this.#startedCalls.add(toolCallId);
    const receipt = this.#decisions.get(toolCallId);
    const action = receipt?.digest === digest ? receipt.decision.action : undefined;
    const isAnswered = action === "ask" && this.#resolutions.get(approvalId ?? "") === true;
    return action === "allow" || isAnswered ? undefined : { toolCallId, what: "started" };
  }

  #checkApprovalRequest(event: EventWithType<"approval.requested">): GapDetails | undefined {
    const { question, subjectId: toolCallId, approvalId, worker } = event;
    // The tool call of a copied request is in the log of its worker, whose audit checks the original.
    if (worker !== undefined) return undefined;
    this.#lastApproval.set(toolCallId, approvalId);
    if (!isAboutToolCall(question)) return undefined;
    if (event.decision?.context.tool !== this.#toolNames.get(toolCallId))
      return { toolCallId, what: "tool" };
    if (question === "question") this.#questionCalls.add(toolCallId);
    if (question !== "run") return undefined;
    const receipt = this.#decisions.get(toolCallId);
    if (receipt?.decision.action !== "ask") return { toolCallId, what: "asked" };
    const isAsJudged = receipt.digest === digestValue(event.input ?? {});
    return isAsJudged ? undefined : { toolCallId, what: "shown" };
  }

  #checkFinish(event: EventWithType<"tool.finished">): GapDetails | undefined {
    const { toolCallId, ending, durationMs } = event;
    const lastApproval = this.#lastApproval.get(toolCallId) ?? "";
    // A question succeeds with an answer, or with its default answer.
    if (ending === "succeeded" && this.#questionCalls.has(toolCallId))
      return this.#resolutions.has(lastApproval) ? undefined : { toolCallId, what: "started" };
    // Only a tool that ran here has a duration or succeeds.
    if (ending === "succeeded" || durationMs !== undefined) return this.#checkStarted(toolCallId);
    if (ending !== "denied") return undefined;
    const isDenied = this.#decisions.get(toolCallId)?.decision.action === "deny";
    const isAnswered = this.#resolutions.get(lastApproval) === false;
    return isDenied || isAnswered ? undefined : { toolCallId, what: "denied" };
  }
}
