import type { ApprovalEvent } from "./approval-events.ts";
import type { ArtifactEvent } from "./artifact-events.ts";
import type { BudgetEvent } from "./budget-events.ts";
import type { ClientEvent } from "./client-events.ts";
import type { DaemonEvent } from "./daemon-events.ts";
import type { LifecycleEvent } from "./lifecycle-events.ts";
import type { SteeringEvent } from "./steering-events.ts";
import type { ToolEvent } from "./tool-events.ts";
import type { TranscriptEvent } from "./transcript-events.ts";
import type { TurnEvent } from "./turn-events.ts";
import type { WorkerEvent } from "./worker-events.ts";
import type { WatchEvent } from "./watch-events.ts";

/**
 * An event of a session's log; one file of variants per slice. The union is closed: `event-manifest.ts` has a row per
 * variant, and every encoder maps each variant or declares it silent.
 *
 * Deltas may be dropped once their block has finished, since the finishing event carries the whole text. A typical turn
 * with one tool:
 *
 * ```
 * prompt.accepted → turn.started → upstream.opened → message.sent → invocation.started
 *   → message.started → text.delta … → text.finished
 *   → tool_call.opened → tool_call.received → message.finished → invocation.finished
 *   → tool_call.paths_resolved → policy.decided → tool.started → tool.finished
 *   → invocation.started (purpose `results`) → … → invocation.finished → turn.finished
 * ```
 */
export type SessionEvent =
  | LifecycleEvent
  | TurnEvent
  | ToolEvent
  | ApprovalEvent
  | ClientEvent
  | SteeringEvent
  | BudgetEvent
  | DaemonEvent
  | TranscriptEvent
  | WorkerEvent
  | ArtifactEvent
  | WatchEvent;

export type SessionEventType = SessionEvent["type"];

export type EventOf<Type extends SessionEventType> = Extract<SessionEvent, { readonly type: Type }>;
