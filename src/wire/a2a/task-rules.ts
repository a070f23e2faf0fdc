import {
  mapped,
  mappedIf,
  silent,
  silentGroup,
  type EventRules,
} from "../../domain/event-rules.ts";
import {
  addArtifact,
  addHandoff,
  appendDelta,
  finishMessage,
  finishText,
  replaceMessage,
} from "./task-artifacts.ts";
import {
  addApproval,
  addInjectedMessage,
  beginTask,
  finishTurn,
  pauseTurn,
  removeApproval,
  setStatus,
  startTurn,
} from "./task-lifecycle.ts";
import { emitPlan, emitProgress, emitWorkerUpdate } from "./task-reports.ts";
import type { TaskFold } from "./task-state.ts";
import type { PlacedUpdate } from "./task.ts";

/** A session has one turn at a time; events of other turns belong to other tasks. */
const duringTurn = mappedIf<TaskFold>(
  (fold, { turnId }) => turnId !== undefined && turnId === fold.turnId,
);

/** The rule for every event of a session: how the stream of a task shows the event, or why not. */
export const TASK_RULES: EventRules<TaskFold, PlacedUpdate> = {
  "prompt.accepted": mapped((fold, event, emit, envelope) => {
    if (fold.promptId === null) beginTask(fold, event, emit, envelope);
  }),
  "prompt.withdrawn": mapped((fold, { promptId }, emit, envelope) => {
    if (promptId === fold.promptId)
      setStatus(fold, { state: "canceled", reason: "withdrawn" }, emit, envelope);
  }),
  "turn.started": mapped(startTurn),
  "turn.paused": duringTurn(pauseTurn),
  "tool_results.submitted": duringTurn((fold, _, emit, envelope) =>
    setStatus(fold, { state: "working" }, emit, envelope),
  ),
  "turn.finished": duringTurn(finishTurn),
  "message.sent": duringTurn(addInjectedMessage),
  "text.delta": duringTurn(appendDelta),
  "text.finished": duringTurn(finishText),
  "message.finished": duringTurn(finishMessage),
  "message.replaced": duringTurn(replaceMessage),
  "artifact.emitted": duringTurn(addArtifact),
  "handoff.emitted": duringTurn(addHandoff),
  "approval.requested": duringTurn(addApproval),
  "approval.resolved": duringTurn(removeApproval),
  "plan.updated": duringTurn(emitPlan),
  "progress.reported": duringTurn(emitProgress),
  "worker.spawned": mapped(emitWorkerUpdate),
  "worker.progressed": mapped(emitWorkerUpdate),
  "worker.waiting_for_input": mapped(emitWorkerUpdate),
  "worker.completed": mapped(emitWorkerUpdate),
  "worker.failed": mapped(emitWorkerUpdate),
  "worker.stopped": mapped(emitWorkerUpdate),
  "worker.cancelled": mapped(emitWorkerUpdate),
  "worker.closed": silent("internal to the session"),
  "worker.reminded": silent("internal to the session"),
  "prompt.hidden": silent("a hidden task is not found"),
  "message.started": silent("the first text of the message opens its artifact"),
  ...silentGroup("a task names its session", [
    "session.opened",
    "session.folders_changed",
    "session.title_changed",
    "session.metadata_changed",
    "session.mode_changed",
    "agent.configured",
    "history.imported",
  ]),
  "session.recovered": silent("its consequences are sent"),
  ...silentGroup("internal to the provider connection", [
    "upstream.opened",
    "upstream.settled",
    "invocation.started",
    "invocation.finished",
    "invocation.lost",
    "usage.reported",
    "hook.fired",
    "provider.activity",
  ]),
  ...silentGroup("a peer receives results, not the reasoning behind them", [
    "thought.delta",
    "thought.finished",
  ]),
  ...silentGroup("A2A has no tool calls", [
    "tool_call.opened",
    "tool_call.input.delta",
    "tool_call.received",
    "tool_call.paths_resolved",
    "policy.decided",
    "tool.started",
    "tool.waiting_for_host",
    "tool.process_started",
    "tool.process_exited",
    "tool.progress",
    "tool.finished",
  ]),
  ...silentGroup("the request stays open", ["approval.routed", "approval.voted"]),
  "approvals.invalidated": silent("approvals are requested again"),
  ...silentGroup("not specific to a task", ["grant.added", "grant.revoked"]),
  ...silentGroup("the message is sent when it is delivered", [
    "inject.accepted",
    "inject.replaced",
    "inject.revoked",
  ]),
  ...silentGroup("for the agent", [
    "reminder.queued",
    "reminder.replaced",
    "reminder.revoked",
    "reminder.emitted",
    "reminder.recorded",
    "reminder.expired",
  ]),
  ...silentGroup("approvers decide about budgets", [
    "budget.requested",
    "budget.reserved",
    "budget.reached",
    "budget.extended",
    "budget.settled",
  ]),
  ...silentGroup("a task is about its own turn", ["daemon.woken", "daemon.stopped"]),
  ...silentGroup("about the request to the model", [
    "compaction.requested",
    "compaction.started",
    "compaction.ended",
    "transcript.compacted",
    "transcript.projected",
  ]),
  ...silentGroup("about clients of the session", [
    "client.attached",
    "client.heartbeat",
    "client.detached",
    "controller.changed",
    "host.requested",
    "host.replied",
    "watch.added",
    "watch.removed",
    "files.changed",
  ]),
  ...silentGroup("for operators; in the log", [
    "log.reported",
    "diagnostic.raised",
    "provider.unknown",
  ]),
};
