import { toJsonText, type JsonObject } from "../../data/json.ts";
import type { ToolEnding } from "../../domain/events/tool-events.ts";
import {
  CLOSE_AGENT_TOOL,
  DELEGATE_TOOL,
  WORKER_TOOLS,
  WORKER_TRIGGER_TOOL,
  isTerminalStatus,
  type Worker,
} from "../../domain/workers/worker.ts";
import { formatWorkerNews } from "../../domain/workers/worker-news.ts";
import { readDelegateRequest } from "../../domain/workers/worker-request.ts";
import { readAgentSpec, type Decision } from "../decision.ts";
import { queueRuntimeReminder } from "../steering/runtime-reminders.ts";
import {
  cancelWorker,
  spawnWorker,
  triggerWorker,
  type WorkerChange,
} from "../workers/worker-commands.ts";
import { findAwaitedWorker, findWorker, isRunningWorker } from "../workers/workers-state.ts";
import { finishTool } from "./finish-tool.ts";
import { findRun, type ToolRun } from "./tools-state.ts";

/** Whether a tool call is about workers. The session itself performs such a call. */
export function isWorkerCall(decision: Decision, { name }: ToolRun): boolean {
  return WORKER_TOOLS.includes(name) && readAgentSpec(decision).workers !== undefined;
}

/** Whether a running tool call waits for the result of a worker. */
export function isWaitingForWorker({ state }: Decision, { toolCallId }: ToolRun): boolean {
  return findAwaitedWorker(state.workers, toolCallId) !== undefined;
}

/** Performs a started call. A call which waits for its worker stays open until `finishWorkerCall`. */
export function performWorkerCall(decision: Decision, run: ToolRun): void {
  const input = run.input ?? {};
  switch (run.name) {
    case DELEGATE_TOOL:
      return delegate(decision, run, input);
    case WORKER_TRIGGER_TOOL:
      return trigger(decision, run, input);
    case CLOSE_AGENT_TOOL:
      return close(decision, run, input);
    default:
      return refuseCall(decision, run, "the tool is not known");
  }
}

function delegate(decision: Decision, run: ToolRun, input: JsonObject): void {
  const request = readDelegateRequest(input);
  if (typeof request === "string") return refuseCall(decision, run, request);
  applyChange(decision, run, spawnWorker(decision, request, run.toolCallId));
}

function trigger(
  decision: Decision,
  run: ToolRun,
  { worker_id: workerId, payload = null }: JsonObject,
): void {
  if (typeof workerId !== "string") return refuseCall(decision, run, "worker_id is not a text");
  applyChange(decision, run, triggerWorker(decision, { workerId, payload }, run.toolCallId));
}

function applyChange(decision: Decision, run: ToolRun, change: WorkerChange): void {
  if (change.status === "refused") return refuseCall(decision, run, change.failure.message);
  const { workerId, name, isBackground, status } = change.worker;
  if (!isBackground) return;
  const text = toJsonText({ worker_id: workerId, name, status });
  finishTool(decision, run, { ending: "succeeded", text });
}

function close(decision: Decision, run: ToolRun, { worker_id: workerId }: JsonObject): void {
  const worker =
    typeof workerId === "string" ? findWorker(decision.state.workers, workerId) : undefined;
  if (worker === undefined) {
    const problem = `${toJsonText(workerId ?? null)} is not an open worker of this session`;
    return refuseCall(decision, run, problem);
  }
  if (!isTerminalStatus(worker.status)) closeWorker(decision, worker);
  const { status } = findWorker(decision.state.workers, worker.workerId) ?? worker;
  const text = toJsonText({ worker_id: worker.workerId, status });
  finishTool(decision, run, { ending: "succeeded", text });
}

function refuseCall(decision: Decision, run: ToolRun, problem: string): void {
  finishTool(decision, run, { ending: "refused", text: `${run.name} had no effect: ${problem}.` });
}

/** Cancels a worker, and ends the tool call which waits for the worker. */
export function closeWorker(decision: Decision, worker: Worker): void {
  const awaiting = findAwaitingRun(decision, worker);
  cancelWorker(decision, worker, "closed");
  const text = `The worker ${worker.name} (${worker.workerId}) was closed before it had a result.`;
  if (awaiting !== undefined) finishTool(decision, awaiting, { ending: "cancelled", text });
}

/** Cancels the workers which the ending turn waits for; after a cancel, all workers that the turn has started. */
export function cancelWorkersOfTurn(
  decision: Decision,
  { turnId, isCancelled }: { readonly turnId: string; readonly isCancelled: boolean },
): void {
  for (const worker of decision.state.workers.open) {
    if (!isRunningWorker(worker) || worker.turnId !== turnId) continue;
    if (isCancelled || !worker.isBackground) cancelWorker(decision, worker, "turn");
  }
}

/** The end of a cycle, for the model. */
export interface WorkerCallEnd {
  readonly ending: ToolEnding;
  readonly text: string;
}

/**
 * Delivers the end of a cycle to the agent: as the result of the tool call which waits for the worker, else as a reminder
 * with the next request to the model.
 */
export function deliverWorkerEnd(
  decision: Decision,
  worker: Worker,
  { ending, text }: WorkerCallEnd,
): void {
  const run = findAwaitingRun(decision, worker);
  if (run !== undefined) return finishTool(decision, run, { ending, text });
  const { workerId } = worker;
  queueRuntimeReminder(decision, {
    body: formatWorkerNews(worker, text),
    tags: ["worker"],
    dedupeKey: `worker/${workerId}`,
    roleHint: "system",
    metadata: { worker_id: workerId },
    isWaking: true,
  });
}

function findAwaitingRun(
  { state }: Decision,
  { toolCallId, isBackground }: Worker,
): ToolRun | undefined {
  if (toolCallId === undefined || isBackground) return undefined;
  const run = findRun(state.tools, toolCallId);
  return run?.status === "running" ? run : undefined;
}
