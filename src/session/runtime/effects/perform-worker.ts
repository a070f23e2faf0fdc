import { omitUndefined } from "../../../data/omit-undefined.ts";
import { SpanlineError, type Failure } from "../../../domain/errors.ts";
import { inheritReminder } from "../../../domain/reminder.ts";
import type { SessionLineage } from "../../../domain/workers/session-lineage.ts";
import type { CommandReply } from "../../../domain/session-command.ts";
import type { Worker } from "../../../domain/workers/worker.ts";
import type { SessionRecord } from "../../../store/session-index.ts";
import type { Effect } from "../../due-effects.ts";
import type { WorkerCycleResult } from "../../session-input.ts";
import type { Sender } from "../../sessions.ts";
import type { ChildSessions } from "./child-sessions.ts";
import {
  createDeletedFailure,
  createFailedResult,
  followRequests,
  followTurn,
  type FollowContext,
  type StartedCycle,
} from "./follow-worker.ts";

interface WorkerContext extends FollowContext {
  readonly sessionId: string;
  readonly workingDirectory?: string;
  readonly folders: readonly string[];
}

type RunEffect = Extract<Effect, { type: "run-worker" }>;
type FollowEffect = Extract<Effect, { type: "follow-worker" }>;

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
    return await followTurn(effect, started, context);
  } catch (error) {
    if (!(error instanceof SpanlineError)) throw error;
    if (error.code === "aborted" || error.code === "store_closed") return undefined;
    return createFailedResult(effect.worker, error.toFailure());
  }
}

async function startCycle(
  effect: RunEffect,
  context: WorkerContext,
): Promise<StartedCycle | { readonly failure: Failure }> {
  const { worker, lineage, principal } = effect;
  const { sessionId, children, signal } = context;
  const { workerId, cycle, prompt } = worker;
  const own = createLineage(worker, sessionId, lineage);
  const existing = await children.find(worker.sessionId);
  // Aborted by a change of the mode: the next attempt opens the session in the new mode.
  signal.throwIfAborted();
  if (existing !== undefined && !isChild(existing, own)) {
    const message = `The session ${worker.sessionId} exists and does not belong to the worker ${workerId}`;
    return { failure: { code: "conflict", message, details: {} } };
  }
  if (existing === undefined && cycle > 1) return { failure: createDeletedFailure(worker) };
  const sender = createSender(principal, `${workerId}/${cycle}`);
  if (existing === undefined) {
    const opened = await openChild(effect, { sender, lineage: own }, context);
    // An aborted attempt may have opened the session in an earlier mode.
    await updateChild(effect, context);
    return readReply(opened.reply, opened.incarnation);
  }
  await updateChild(effect, context);
  const content = [{ type: "text", text: prompt }] as const;
  const reply = await children.command(worker.sessionId, { type: "prompt", content }, sender);
  return readReply(reply, existing.incarnation);
}

/** Follows the session of a worker which waits for a trigger. */
export async function watchWaitingWorker(
  effect: FollowEffect,
  context: WorkerContext,
): Promise<void> {
  const { children } = context;
  const record = await children.find(effect.worker.sessionId);
  if (record === undefined) return;
  await updateChild(effect, context);
  await followRequests(effect, record, context);
}

/** Brings the session of a worker up to date with its parent: the session mode, and the reminders since the start. */
async function updateChild(
  effect: RunEffect | FollowEffect,
  { children, sessionId: parentSessionId }: WorkerContext,
): Promise<void> {
  await restrictMode(effect, children);
  const { workerId, sessionId, reminders } = effect.worker;
  for (const { reminderId, reminder: original } of reminders) {
    const sender = createSender(effect.principal, `${workerId}/${reminderId}`);
    const reminder = inheritReminder(original, parentSessionId);
    await children.command(sessionId, { type: "remind", reminder }, sender);
  }
}

/** Narrows the session mode of the worker. Refused without an effect if the worker's mode is narrower already. */
async function restrictMode(
  { worker, principal: id, mode }: RunEffect | FollowEffect,
  children: ChildSessions,
): Promise<void> {
  if (mode === "default") return;
  const principal = { id, rights: ["prompt"] } as const;
  await children.command(worker.sessionId, { type: "set-mode", mode }, { principal });
}

function openChild(
  { worker, mode }: RunEffect,
  { sender, lineage }: { readonly sender: Sender; readonly lineage: SessionLineage },
  { children, workingDirectory, folders }: WorkerContext,
) {
  const { sessionId, agent, name, prompt, budget, inherited = [] } = worker;
  const reminders = inherited.map((one) => inheritReminder(one, lineage.parentSessionId));
  const content = [{ type: "text", text: prompt }] as const;
  const options = {
    sessionId,
    agent,
    principal: sender.principal,
    title: name,
    folders,
    lineage,
    ...(mode !== "default" && { mode }),
    ...(reminders.length > 0 && { reminders }),
    ...omitUndefined({ workingDirectory, budget }),
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

/** Ends the work in the session of an ended worker and in the sessions below, and reports the total use. */
export async function closeWorkerSession(
  { worker, principal }: Extract<Effect, { type: "close-worker" }>,
  context: WorkerContext,
): Promise<void> {
  const { children, sessionId: parentSessionId, signal, send } = context;
  const { workerId, sessionId } = worker;
  const record = await children.find(sessionId);
  let { usage } = worker;
  const isOwn =
    record?.lineage?.parentSessionId === parentSessionId && record.lineage.workerId === workerId;
  if (isOwn) {
    await children.command(
      sessionId,
      { type: "end-work" },
      createSender(principal, `${workerId}/close`),
    );
    await waitForClosedWorkers(record, context);
    ({ usage } = await children.readTotals(sessionId));
  }
  if (!signal.aborted) await send({ type: "worker-closed", workerId, usage });
}

/** Waits until the ended workers of a session are closed: only then are their amounts part of its totals. */
async function waitForClosedWorkers(
  { sessionId, incarnation }: SessionRecord,
  { children, signal }: WorkerContext,
): Promise<void> {
  const { endedWorkers, seq } = await children.readTotals(sessionId);
  const waiting = new Set(endedWorkers);
  if (waiting.size === 0) return;
  for await (const { events } of children.subscribe(sessionId, { incarnation, seq }, signal)) {
    for (const { event } of events)
      if (event.type === "worker.closed") waiting.delete(event.workerId);
    if (waiting.size === 0) return;
  }
}
