import type { ApprovalEvent } from "./approval-events.ts";
import type { ArtifactEvent } from "./artifact-events.ts";
import type { BudgetEvent } from "./budget-events.ts";
import type { ClientEvent } from "./client-events.ts";
import type { DaemonEvent } from "./daemon-events.ts";
import type { LifecycleEvent } from "./lifecycle-events.ts";
import type { SessionEvent, SessionEventType } from "./session-event.ts";
import type { SteeringEvent } from "./steering-events.ts";
import type { ToolEvent } from "./tool-events.ts";
import type { TranscriptEvent } from "./transcript-events.ts";
import type { TurnEvent } from "./turn-events.ts";
import type { WorkerEvent } from "./worker-events.ts";
import type { WatchEvent } from "./watch-events.ts";

/** The events of each slice, by declaring file. */
export interface SliceEvents {
  readonly session: LifecycleEvent;
  readonly turn: TurnEvent;
  readonly tools: ToolEvent;
  readonly approvals: ApprovalEvent;
  readonly clients: ClientEvent;
  readonly steering: SteeringEvent;
  readonly budgets: BudgetEvent;
  readonly daemon: DaemonEvent;
  readonly transcript: TranscriptEvent;
  readonly workers: WorkerEvent;
  readonly artifacts: ArtifactEvent;
  readonly watches: WatchEvent;
}

type SliceName = keyof SliceEvents;

/** The slice whose file declares the event: a row with another slice does not compile. */
type SliceOf<Type extends SessionEventType> = {
  [Slice in SliceName]: Type extends SliceEvents[Slice]["type"] ? Slice : never;
}[SliceName];

interface EventManifestEntry<Slice extends SliceName = SliceName> {
  /** Incremented when the variant's fields change; `upcast.ts` then converts older versions. */
  readonly version: number;
  /** The only slice which emits and folds this event. */
  readonly slice: Slice;
  /** Synced to disk before any effect based on this event. */
  readonly barrier: boolean;
}

function stepEvent<Slice extends SliceName>(slice: Slice): EventManifestEntry<Slice> {
  return { version: 1, slice, barrier: false };
}

function barrierEvent<Slice extends SliceName>(slice: Slice): EventManifestEntry<Slice> {
  return { version: 1, slice, barrier: true };
}

export const EVENT_MANIFEST: {
  readonly [Type in SessionEventType]: EventManifestEntry<SliceOf<Type>>;
} = {
  "session.opened": barrierEvent("session"),
  "session.folders_changed": barrierEvent("session"),
  "agent.configured": barrierEvent("session"),
  "session.recovered": barrierEvent("session"),
  "session.title_changed": stepEvent("session"),
  "session.metadata_changed": barrierEvent("session"),
  "session.mode_changed": barrierEvent("session"),
  "history.imported": barrierEvent("session"),
  "prompt.accepted": barrierEvent("turn"),
  "prompt.withdrawn": barrierEvent("turn"),
  "prompt.hidden": barrierEvent("turn"),
  "turn.started": barrierEvent("turn"),
  "turn.finished": barrierEvent("turn"),
  "turn.paused": barrierEvent("turn"),
  "tool_results.submitted": barrierEvent("turn"),
  "upstream.opened": barrierEvent("turn"),
  "upstream.settled": barrierEvent("turn"),
  "invocation.started": barrierEvent("turn"),
  "invocation.finished": barrierEvent("turn"),
  "invocation.lost": barrierEvent("turn"),
  "message.sent": barrierEvent("turn"),
  "message.started": stepEvent("turn"),
  "message.finished": stepEvent("turn"),
  "message.replaced": stepEvent("turn"),
  "text.delta": stepEvent("turn"),
  "text.finished": stepEvent("turn"),
  "thought.delta": stepEvent("turn"),
  "thought.finished": stepEvent("turn"),
  "tool_call.opened": stepEvent("tools"),
  "tool_call.input.delta": stepEvent("tools"),
  "tool_call.received": stepEvent("tools"),
  "tool_call.paths_resolved": stepEvent("tools"),
  "policy.decided": barrierEvent("tools"),
  "tool.started": barrierEvent("tools"),
  "tool.waiting_for_host": barrierEvent("tools"),
  "tool.process_started": barrierEvent("tools"),
  "tool.process_exited": stepEvent("tools"),
  "tool.progress": stepEvent("tools"),
  "tool.finished": barrierEvent("tools"),
  "plan.updated": stepEvent("tools"),
  "progress.reported": stepEvent("tools"),
  "log.reported": stepEvent("tools"),
  "approval.requested": barrierEvent("approvals"),
  "approval.routed": barrierEvent("approvals"),
  "approval.voted": barrierEvent("approvals"),
  "approval.resolved": barrierEvent("approvals"),
  "grant.added": barrierEvent("approvals"),
  "grant.revoked": barrierEvent("approvals"),
  "approvals.invalidated": barrierEvent("approvals"),
  "client.attached": stepEvent("clients"),
  "client.heartbeat": stepEvent("clients"),
  "client.detached": stepEvent("clients"),
  "controller.changed": barrierEvent("clients"),
  "host.requested": barrierEvent("clients"),
  "host.replied": barrierEvent("clients"),
  "inject.accepted": barrierEvent("steering"),
  "inject.replaced": barrierEvent("steering"),
  "inject.revoked": barrierEvent("steering"),
  "reminder.queued": barrierEvent("steering"),
  "reminder.replaced": barrierEvent("steering"),
  "reminder.revoked": barrierEvent("steering"),
  "reminder.emitted": barrierEvent("steering"),
  "reminder.recorded": barrierEvent("steering"),
  "reminder.expired": barrierEvent("steering"),
  "budget.requested": barrierEvent("budgets"),
  "budget.reserved": barrierEvent("budgets"),
  "budget.reached": barrierEvent("budgets"),
  "budget.extended": barrierEvent("budgets"),
  "budget.settled": barrierEvent("budgets"),
  "daemon.woken": barrierEvent("daemon"),
  "daemon.stopped": barrierEvent("daemon"),
  "compaction.requested": barrierEvent("transcript"),
  "compaction.started": barrierEvent("transcript"),
  "compaction.ended": barrierEvent("transcript"),
  "transcript.compacted": barrierEvent("transcript"),
  "transcript.projected": barrierEvent("transcript"),
  "worker.spawned": barrierEvent("workers"),
  "worker.progressed": barrierEvent("workers"),
  "worker.waiting_for_input": barrierEvent("workers"),
  "worker.completed": barrierEvent("workers"),
  "worker.failed": barrierEvent("workers"),
  "worker.stopped": barrierEvent("workers"),
  "worker.cancelled": barrierEvent("workers"),
  "worker.reminded": barrierEvent("workers"),
  "worker.closed": barrierEvent("workers"),
  "artifact.emitted": barrierEvent("artifacts"),
  "handoff.emitted": barrierEvent("artifacts"),
  "watch.added": barrierEvent("watches"),
  "watch.removed": barrierEvent("watches"),
  "files.changed": stepEvent("watches"),
  "usage.reported": stepEvent("turn"),
  "hook.fired": stepEvent("turn"),
  "provider.activity": stepEvent("turn"),
  "diagnostic.raised": stepEvent("turn"),
  "provider.unknown": stepEvent("turn"),
};

export function needsSync(event: SessionEvent): boolean {
  return EVENT_MANIFEST[event.type].barrier;
}
