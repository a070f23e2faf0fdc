import type { AgentSpec } from "../../../src/domain/agent-spec.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import type { EventOf } from "../../../src/domain/events/session-event.ts";
import { isLessStrict, type SessionMode } from "../../../src/domain/session-mode.ts";
import { findDueEffects } from "../../../src/session/due-effects.ts";
import { must } from "./assert-rule.ts";
import type { Step } from "./simulated-session.ts";

/** A worker as its events describe it. */
interface SeenWorker {
  readonly sessionId: string;
  readonly isRetriggerable: boolean;
  readonly isBackground: boolean;
  status: string;
  cycle: number;
  toolCallId: string | undefined;
  turnId: string | undefined;
}

const ENDS = ["completed", "failed", "stopped", "cancelled"];
/** The statuses before which an event may occur. */
const BEFORE: { readonly [type: string]: readonly string[] } = {
  "worker.progressed": ["awaiting_input"],
  "worker.waiting_for_input": ["running"],
  "worker.completed": ["running"],
  "worker.failed": ["running"],
  "worker.stopped": ["running"],
  "worker.cancelled": ["running", "awaiting_input"],
  "worker.closed": ENDS,
};
const AFTER: { readonly [type: string]: string } = {
  "worker.progressed": "progressed",
  "worker.waiting_for_input": "awaiting_input",
  "worker.completed": "completed",
  "worker.failed": "failed",
  "worker.stopped": "stopped",
  "worker.cancelled": "cancelled",
  "worker.closed": "closed",
};

/** Checks the workers of a log from the log alone, and the due effects against them. */
export function workerRules({ workers: settings, budgets }: AgentSpec): (step: Step) => void {
  const workers = new Map<string, SeenWorker>();
  const finishedCalls = new Set<string>();
  let mode: SessionMode = "default";

  const listActive = (): SeenWorker[] =>
    [...workers.values()].filter(({ status }) => ![...ENDS, "closed"].includes(status));

  function spawn(event: EventOf<"worker.spawned">, turnId: string | undefined): void {
    const { workerId, sessionId, cycle, toolCallId, isBackground, isRetriggerable } = event;
    const earlier = workers.get(workerId);
    if (earlier !== undefined) {
      must(earlier.status === "progressed", "a further cycle follows a trigger");
      must(cycle === earlier.cycle + 1, "cycles are counted");
      must(sessionId === earlier.sessionId, "a worker keeps its session");
      Object.assign(earlier, { status: "running", cycle, toolCallId, turnId });
      return;
    }
    const others = [...workers.values()];
    must(cycle === 1, "the first cycle has the number 1");
    must(
      others.every((one) => one.sessionId !== sessionId),
      "no two workers share a session",
    );
    must(listActive().length < (settings?.maxOpen ?? 0), "the width is limited");
    const isOfCall = toolCallId !== undefined;
    must(!isOfCall || workerId.slice(7) === toolCallId.slice(5), "a tool call has one worker");
    const seen = { sessionId, isRetriggerable, isBackground, cycle, toolCallId, turnId };
    workers.set(workerId, { ...seen, status: "running" });
  }

  function take({ event, turnId }: Envelope): void {
    if (event.type === "worker.spawned") return spawn(event, turnId);
    if (event.type === "tool.finished") {
      must(!finishedCalls.has(event.toolCallId), "a tool call ends once");
      finishedCalls.add(event.toolCallId);
    }
    if (event.type === "session.mode_changed") ({ mode } = event);
    const next = AFTER[event.type];
    if (next === undefined || !("workerId" in event)) return;
    const worker = workers.get(event.workerId);
    must(worker !== undefined, "only a spawned worker changes");
    must(BEFORE[event.type]?.includes(worker.status) === true, `${event.type} is in order`);
    const isWaiting = event.type === "worker.waiting_for_input";
    must(!isWaiting || worker.isRetriggerable, "only a retriggerable worker waits");
    worker.status = next;
  }

  /** Every worker which is not closed has exactly the effect of its status, so none is orphaned. */
  function checkEffects({ after }: Step): void {
    const open = [...workers].filter(([, { status }]) => status !== "closed");
    must(
      JSON.stringify(after.workers.open.map(({ workerId, status }) => [workerId, status])) ===
        JSON.stringify(open.map(([workerId, { status }]) => [workerId, status])),
      "the state has the open workers",
    );
    const due = [...findDueEffects(after).effects.values()].flatMap((effect) =>
      "worker" in effect ? [effect] : [],
    );
    must(due.length === open.length, "an open worker has one effect");
    for (const effect of due) {
      const { status = "" } = workers.get(effect.worker.workerId) ?? {};
      const isEnded = ENDS.includes(status);
      must((effect.type === "close-worker") === isEnded, "an ended worker is closed");
      must((effect.type === "follow-worker") === (status === "awaiting_input"), "it is followed");
      must(
        effect.type === "close-worker" || !isLessStrict(effect.mode, mode),
        "a worker is never in a wider mode than its parent",
      );
    }
  }

  /** A turn waits for its foreground workers, and their calls wait with it. */
  function checkCalls({ after, events }: Step): void {
    const turnId = after.turn.current?.turnId;
    for (const worker of listActive()) {
      if (worker.isBackground || worker.status !== "running") continue;
      const { toolCallId } = worker;
      // Also a command can start a cycle of a worker which a call has started in the foreground.
      if (toolCallId === undefined) continue;
      must(worker.turnId === turnId, "a foreground worker does not outlive its turn");
      must(!finishedCalls.has(toolCallId), "a call waits for its worker");
    }
    for (const { event } of events) {
      if (event.type !== "turn.finished" || event.outcome !== "cancelled") continue;
      const left = listActive().filter(
        (worker) => worker.turnId === event.turnId && worker.status === "running",
      );
      must(left.length === 0, "a cancelled turn has no running workers");
    }
  }

  function checkBudgets({ after }: Step): void {
    const { session: used } = after.budgets;
    for (const unit of ["invocations", "toolCalls"] as const) {
      const cap = budgets?.session?.[unit];
      if (cap === undefined) continue;
      const reserved = after.workers.open
        .filter(({ status }) => !ENDS.includes(status) || status === "cancelled")
        .reduce(
          (sum, { budget, usage }) => sum + Math.max(0, (budget?.[unit] ?? 0) - usage[unit]),
          0,
        );
      must(used[unit] + reserved <= cap, `the budget of ${unit} holds for all workers`);
    }
  }

  return (step) => {
    for (const envelope of step.events) take(envelope);
    checkEffects(step);
    checkCalls(step);
    checkBudgets(step);
    for (const { worker } of step.after.approvals.pending) {
      const status = worker === undefined ? "running" : workers.get(worker.through)?.status;
      must(status === "running" || status === "awaiting_input", "an open request has a worker");
    }
  };
}
