import { omitUndefined } from "../../../data/omit-undefined.ts";
import type { Failure } from "../../../domain/errors.ts";
import type { ApprovalRequested } from "../../../domain/events/approval-events.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import type { TurnFinished } from "../../../domain/events/turn-events.ts";
import type { Worker } from "../../../domain/workers/worker.ts";
import type { SessionInput, WorkerCycleResult } from "../../session-input.ts";
import type { ChildSessions, SessionTotals } from "./child-sessions.ts";

export interface FollowContext {
  readonly children: ChildSessions;
  readonly signal: AbortSignal;
  readonly send: (input: SessionInput) => Promise<unknown>;
}

/** A worker, and the ids of its open requests which its parent shows. */
interface FollowedWorker {
  readonly worker: Worker;
  readonly copiedRequests: readonly string[];
}

/** A cycle whose prompt is in the log of the worker's session. */
export interface StartedCycle {
  readonly promptId: string;
  /** Log position of the prompt. */
  readonly seq: number;
  readonly incarnation: string;
}

/**
 * Follows the turn of the prompt, and reports the requests to approvers meanwhile. Undefined if the process closes its
 * sessions.
 */
export async function followTurn(
  followed: FollowedWorker,
  { promptId, seq, incarnation }: StartedCycle,
  context: FollowContext,
): Promise<WorkerCycleResult | undefined> {
  const { worker } = followed;
  const { children, signal } = context;
  const turn = createTurnReader(promptId);
  try {
    for await (const envelope of readEvents(followed, { seq: seq - 1, incarnation }, context)) {
      const end = turn.apply(envelope);
      if (end === undefined) continue;
      const { usage, artifactCount } = await children.readTotals(worker.sessionId);
      return { ...end, usage, artifactCount };
    }
  } catch (error) {
    if (signal.aborted) return undefined;
    const isDeleted = (await children.find(worker.sessionId)) === undefined;
    if (isDeleted)
      return { ...createFailedResult(worker, createDeletedFailure(worker)), outcome: "cancelled" };
    throw error;
  }
  return undefined;
}

/** Reports the requests to approvers until the signal aborts, or the session is deleted. */
export async function followRequests(
  followed: FollowedWorker,
  { incarnation }: Pick<StartedCycle, "incarnation">,
  context: FollowContext,
): Promise<void> {
  const { children, signal } = context;
  try {
    const start = { seq: Number.MAX_SAFE_INTEGER, incarnation };
    for await (const _ of readEvents(followed, start, context));
  } catch (error) {
    if (signal.aborted) return;
    if ((await children.find(followed.worker.sessionId)) !== undefined) throw error;
  }
}

/**
 * The events of a worker's session after `seq`. All requests to approvers up to an event have been reported before the
 * event is returned. Starts earlier if the parent misses a request, or shows a request which is resolved.
 */
async function* readEvents(
  { worker: { workerId, sessionId }, copiedRequests }: FollowedWorker,
  { seq, incarnation }: Pick<StartedCycle, "seq" | "incarnation">,
  { children, signal, send }: FollowContext,
): AsyncGenerator<Envelope> {
  const totals = await children.readTotals(sessionId);
  const approvals = createApprovalReporter(workerId, send);
  const cursor = { incarnation, seq: Math.min(seq, findReportStart(totals, copiedRequests)) };
  for await (const { events } of children.subscribe(sessionId, cursor, signal)) {
    for (const envelope of events) {
      await approvals.apply(envelope);
      if (envelope.seq >= totals.seq) await approvals.reportOpen();
      yield envelope;
    }
  }
}

/** The log position after which the parent has all reports. 0 if a resolution may have been missed. */
function findReportStart(
  { seq, openRequests }: SessionTotals,
  copiedRequests: readonly string[],
): number {
  const openIds = new Set(openRequests.map(({ approvalId }) => approvalId));
  if (copiedRequests.some((id) => !openIds.has(id))) return 0;
  const missing = openRequests.filter(({ approvalId }) => !copiedRequests.includes(approvalId));
  return Math.min(seq, ...missing.map((request) => request.seq - 1));
}

/** The result of a cycle without a turn. The usage is as last reported, so the earlier cycles are not counted again. */
export function createFailedResult({ usage }: Worker, failure: Failure): WorkerCycleResult {
  return { outcome: "failed", text: "", reason: null, failure, usage };
}

export function createDeletedFailure({ sessionId }: Worker): Failure {
  return {
    code: "not_found",
    message: `The session ${sessionId} of the worker was deleted`,
    details: {},
  };
}

type CycleEnd = Omit<WorkerCycleResult, "usage">;

/** Collects the last message of the turn of a prompt. Returns the end of the turn. */
function createTurnReader(promptId: string): {
  readonly apply: (envelope: Envelope) => CycleEnd | undefined;
} {
  let turnId: string | undefined;
  let lastText = "";
  let texts: string[] = [];
  let handoffId: string | undefined;
  return {
    apply({ event, turnId: eventTurn }) {
      if (event.type === "prompt.withdrawn" && event.promptId === promptId)
        return { outcome: "cancelled", text: "", reason: event.reason };
      if (event.type === "turn.started" && event.promptId === promptId) ({ turnId } = event);
      if (turnId === undefined || eventTurn !== turnId) return undefined;
      if (event.type === "message.started") texts = [];
      if (event.type === "text.finished") texts.push(event.text);
      if (event.type === "message.replaced") texts = [event.text];
      if (event.type === "handoff.emitted") ({ handoffId } = event);
      if (texts.length > 0) lastText = texts.join("\n\n");
      if (event.type !== "turn.finished") return undefined;
      return { ...readEnd(event, lastText), ...omitUndefined({ handoffId }) };
    },
  };
}

function readEnd({ outcome, reason, failure }: TurnFinished, text: string): CycleEnd {
  return { outcome, text, reason, ...omitUndefined({ failure }) };
}

interface ApprovalReporter {
  readonly apply: (envelope: Envelope) => Promise<void>;
  readonly reportOpen: () => Promise<void>;
}

/**
 * Reports the requests to approvers. Of the part of the log which existed before, only requests which are still open are
 * reported: the others may have been reported by an earlier process.
 */
function createApprovalReporter(workerId: string, send: FollowContext["send"]): ApprovalReporter {
  const unreported = new Map<string, ApprovalRequested>();
  return {
    async apply({ event }) {
      if (event.type === "approval.requested") unreported.set(event.approvalId, event);
      if (event.type !== "approval.resolved") return;
      unreported.delete(event.approvalId);
      await send({ type: "worker-approval-resolved", workerId, resolution: event });
    },
    async reportOpen() {
      const requests = [...unreported.values()];
      unreported.clear();
      for (const request of requests)
        await send({ type: "worker-approval-requested", workerId, request });
    },
  };
}
