import { omitUndefined } from "../../../data/omit-undefined.ts";
import { SpanlineError, type Failure } from "../../../domain/errors.ts";
import type {
  ApprovalRequested,
  ApprovalResolved,
} from "../../../domain/events/approval-events.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import type { TurnFinished } from "../../../domain/events/turn-events.ts";
import type { SessionLineage } from "../../../domain/workers/session-lineage.ts";
import type { CommandReply } from "../../../domain/session-command.ts";
import type { Worker } from "../../../domain/workers/worker.ts";
import type { SessionRecord } from "../../../store/session-index.ts";
import type { Effect } from "../../due-effects.ts";
import type { SessionInput, WorkerCycleResult } from "../../session-input.ts";
import type { Sender } from "../../sessions.ts";
import type { ChildSessions } from "./child-sessions.ts";

interface WorkerContext {
  readonly sessionId: string;
  readonly workingDirectory?: string;
  readonly folders: readonly string[];
  readonly children: ChildSessions;
  readonly signal: AbortSignal;
  readonly send: (input: SessionInput) => Promise<unknown>;
}

type RunEffect = Extract<Effect, { type: "run-worker" }>;

/**
 * Runs one cycle of a worker: opens the worker's session unless it exists, sends the prompt once, and follows the log of
 * that session until the turn of the prompt ends. All steps are safe to repeat after a kill: the ids of the session and
 * of the prompt command follow from the worker.
 */
export async function runWorker(effect: RunEffect, context: WorkerContext): Promise<void> {
  const { workerId, cycle } = effect.worker;
  const { signal, send } = context;
  const result = await runCycle(effect, context);
  if (signal.aborted || result === undefined) return;
  await send({ type: "worker-finished", workerId, cycle, result });
}

/** Undefined if the process closes its sessions: the next process repeats the cycle. */
async function runCycle(
  effect: RunEffect,
  context: WorkerContext,
): Promise<WorkerCycleResult | undefined> {
  try {
    const started = await startCycle(effect, context);
    if ("failure" in started) return createFailedResult(effect.worker, started.failure);
    return await followCycle(effect.worker, started, context);
  } catch (error) {
    if (!(error instanceof SpanlineError)) throw error;
    if (error.code === "aborted" || error.code === "store_closed") return undefined;
    return createFailedResult(effect.worker, error.toFailure());
  }
}

/** The result of a cycle without a turn. The usage is as last reported, so the earlier cycles are not counted again. */
function createFailedResult({ usage }: Worker, failure: Failure): WorkerCycleResult {
  return { outcome: "failed", text: "", reason: null, failure, usage };
}

interface StartedCycle {
  readonly promptId: string;
  /** Log position of the prompt. */
  readonly seq: number;
  readonly incarnation: string;
}

async function startCycle(
  { worker, lineage, principal }: RunEffect,
  context: WorkerContext,
): Promise<StartedCycle | { readonly failure: Failure }> {
  const { sessionId, children } = context;
  const { workerId, cycle, prompt } = worker;
  const own = createLineage(worker, sessionId, lineage);
  const existing = await children.find(worker.sessionId);
  if (existing !== undefined && !isChild(existing, own)) {
    const message = `The session ${worker.sessionId} exists and does not belong to the worker ${workerId}`;
    return { failure: { code: "conflict", message, details: {} } };
  }
  if (existing === undefined && cycle > 1) return { failure: createDeletedFailure(worker) };
  const sender = createSender(principal, `${workerId}/${cycle}`);
  const content = [{ type: "text", text: prompt }] as const;
  const command = { type: "prompt", content } as const;
  const { reply, incarnation } =
    existing === undefined
      ? await openChild(worker, { sender, lineage: own }, context)
      : { ...existing, reply: await children.command(worker.sessionId, command, sender) };
  return readReply(reply, incarnation);
}

function openChild(
  { sessionId, agent, name, prompt, sessionMode: mode, budget }: Worker,
  { sender, lineage }: { readonly sender: Sender; readonly lineage: SessionLineage },
  { children, workingDirectory, folders }: WorkerContext,
) {
  const content = [{ type: "text", text: prompt }] as const;
  const options = {
    sessionId,
    agent,
    principal: sender.principal,
    title: name,
    folders,
    lineage,
    ...omitUndefined({ workingDirectory, mode, budget }),
  };
  const createPrompt = () => ({ type: "prompt", content }) as const;
  return children.openWithPrompt(options, { sender, createPrompt });
}

function createLineage(
  { workerId }: Worker,
  parentSessionId: string,
  lineage: SessionLineage | null,
): SessionLineage {
  const rootSessionId = lineage?.rootSessionId ?? parentSessionId;
  return { parentSessionId, workerId, rootSessionId, depth: (lineage?.depth ?? 0) + 1 };
}

function isChild({ lineage }: SessionRecord, own: SessionLineage): boolean {
  return lineage?.parentSessionId === own.parentSessionId && lineage.workerId === own.workerId;
}

/** The session acts for the owner of the session which delegates. */
function createSender(principal: string, commandId: string): Sender {
  return { principal: { id: principal, rights: ["prompt", "control"] }, commandId };
}

function readReply(
  reply: CommandReply | undefined,
  incarnation: string,
): StartedCycle | { readonly failure: Failure } {
  if (reply?.status === "refused") return { failure: reply.failure };
  if (reply?.promptId === undefined || reply.seq === undefined)
    throw new Error("The session of a worker accepted no prompt");
  return { promptId: reply.promptId, seq: reply.seq, incarnation };
}

function createDeletedFailure({ sessionId }: Worker): Failure {
  return {
    code: "not_found",
    message: `The session ${sessionId} of the worker was deleted`,
    details: {},
  };
}

/** Follows the turn of the prompt, and reports the requests to approvers meanwhile. */
async function followCycle(
  worker: Worker,
  { promptId, seq, incarnation }: StartedCycle,
  { children, signal, send }: WorkerContext,
): Promise<WorkerCycleResult | undefined> {
  const { workerId, sessionId } = worker;
  const head = (await children.find(sessionId))?.seq ?? seq;
  const turn = createTurnReader(promptId);
  const approvals = createApprovalReporter(workerId, send);
  const cursor = { incarnation, seq: seq - 1 };
  try {
    for await (const { events } of children.subscribe(sessionId, cursor, signal)) {
      for (const envelope of events) {
        await approvals.apply(envelope);
        if (envelope.seq >= head) await approvals.reportOpen();
        const end = turn.apply(envelope);
        if (end !== undefined) return { ...end, ...(await children.readTotals(sessionId)) };
      }
    }
  } catch (error) {
    if (signal.aborted) return undefined;
    const isDeleted = (await children.find(sessionId)) === undefined;
    if (isDeleted)
      return { ...createFailedResult(worker, createDeletedFailure(worker)), outcome: "cancelled" };
    throw error;
  }
  return undefined;
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

/**
 * Reports the requests to approvers. Of the part of the log which existed before, only requests which are still open are
 * reported: the others may have been reported by an earlier process.
 */
function createApprovalReporter(
  workerId: string,
  send: WorkerContext["send"],
): {
  readonly apply: (envelope: Envelope) => Promise<void>;
  readonly reportOpen: () => Promise<void>;
} {
  const unreported = new Map<string, ApprovalRequested>();
  const reportResolution = (resolution: ApprovalResolved): Promise<unknown> =>
    send({ type: "worker-approval-resolved", workerId, resolution });
  return {
    async apply({ event }) {
      if (event.type === "approval.requested") unreported.set(event.approvalId, event);
      if (event.type !== "approval.resolved") return;
      unreported.delete(event.approvalId);
      await reportResolution(event);
    },
    async reportOpen() {
      const requests = [...unreported.values()];
      unreported.clear();
      for (const request of requests)
        await send({ type: "worker-approval-requested", workerId, request });
    },
  };
}

/** Ends the work in the session of an ended worker, and reports the total use. */
export async function closeWorkerSession(
  { worker, principal }: Extract<Effect, { type: "close-worker" }>,
  { children, sessionId: parentSessionId, signal, send }: WorkerContext,
): Promise<void> {
  const { workerId, sessionId } = worker;
  const record = await children.find(sessionId);
  const { lineage } = record ?? {};
  let { usage } = worker;
  if (lineage?.parentSessionId === parentSessionId && lineage.workerId === workerId) {
    await children.command(
      sessionId,
      { type: "end-work" },
      createSender(principal, `${workerId}/close`),
    );
    ({ usage } = await children.readTotals(sessionId));
  }
  if (!signal.aborted) await send({ type: "worker-closed", workerId, usage });
}
