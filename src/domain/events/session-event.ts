import type { ApprovalEvent } from "./approval-events.ts";
import type { ClientEvent } from "./client-events.ts";
import type { LifecycleEvent } from "./lifecycle-events.ts";
import type { ToolEvent } from "./tool-events.ts";
import type { TurnEvent } from "./turn-events.ts";

/**
 * What a session's log says: one file of variants for each slice. Closed: `event-manifest.ts` has one row for each variant, and
 * every encoder says of each one whether it is mapped or silent.
 *
 * Deltas may be dropped once their block has ended, since the end carries the whole.
 */
export type SessionEvent = LifecycleEvent | TurnEvent | ToolEvent | ApprovalEvent | ClientEvent;

export type SessionEventType = SessionEvent["type"];

export type EventOf<Type extends SessionEventType> = Extract<SessionEvent, { readonly type: Type }>;
