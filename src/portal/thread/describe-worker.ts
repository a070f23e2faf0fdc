import { formatQuantity } from "../../domain/budget.ts";
import { isTerminalStatus, type Worker, type WorkerStatus } from "../../domain/workers/worker.ts";
import { pluralize } from "../../text/pluralize.ts";
import type { SessionView, WorkerItem } from "../state/session-view.ts";
import type { ToolStatus } from "./describe-tool.ts";

/** Describes the status of a worker in a few words. */
export function describeWorkerStatus({ status }: Pick<Worker, "status">): ToolStatus {
  return STATUSES[status];
}

const STATUSES: { readonly [Status in WorkerStatus]: ToolStatus } = {
  running: { label: "running", tone: "accent", isBusy: true },
  progressed: { label: "triggered", tone: "accent", isBusy: true },
  awaiting_input: { label: "waits for a trigger", tone: "warning", isBusy: false },
  completed: { label: "completed", tone: "good", isBusy: false },
  failed: { label: "failed", tone: "danger", isBusy: false },
  stopped: { label: "handed over", tone: "neutral", isBusy: false },
  cancelled: { label: "cancelled", tone: "neutral", isBusy: false },
};

/** The agent of a worker, and what the worker has used and created so far. */
export function describeWorkerFacts({ agent, cycle, usage, artifactCount }: Worker): string {
  const facts = [agent];
  if (cycle > 1) facts.push(`cycle ${cycle}`);
  if (usage.tokens > 0) facts.push(formatQuantity("tokens", usage.tokens));
  if (usage.toolCalls > 0) facts.push(formatQuantity("toolCalls", usage.toolCalls));
  if (artifactCount > 0) facts.push(pluralize(artifactCount, "artifact"));
  return facts.join(" · ");
}

/** The workers of a session, in the order of their start. */
export function listWorkers({ turns }: Pick<SessionView, "turns">): readonly WorkerItem[] {
  return turns.flatMap(({ items }) => items.filter((item) => item.kind === "worker"));
}

/** Whether a worker or any of its own workers waits for a person. */
export function needsPerson(
  { workerId, status }: Pick<Worker, "workerId" | "status">,
  { openApprovals }: Pick<SessionView, "openApprovals">,
): boolean {
  if (isTerminalStatus(status)) return false;
  return openApprovals.some(({ request }) => request.worker?.through === workerId);
}
