import type { AgentEvent, AgentEventType } from "./agent-event.ts";

export type SliceName = "session" | "turn" | "tools" | "approvals" | "clients";

export interface EventFacts {
  /** Raised when the variant's fields change; `upcast.ts` then says how the old form is read. */
  readonly version: number;
  /** The one slice that makes and keeps it. */
  readonly slice: SliceName;
  /** On the disk before anything is done about it. */
  readonly barrier: boolean;
}

const step = (slice: SliceName): EventFacts => ({ version: 1, slice, barrier: false });
const barrier = (slice: SliceName): EventFacts => ({ version: 1, slice, barrier: true });

export const EVENT_MANIFEST: { readonly [Type in AgentEventType]: EventFacts } = {
  "session.opened": barrier("session"),
  "session.extended": barrier("session"),
  "agent.bound": barrier("session"),
  "session.recovered": barrier("session"),
  "session.titled": step("session"),
  "session.metadata_changed": barrier("session"),
  "session.configured": barrier("session"),
  "history.given": barrier("session"),
  "prompt.accepted": barrier("turn"),
  "prompt.withdrawn": barrier("turn"),
  "prompt.forgotten": barrier("turn"),
  "turn.started": barrier("turn"),
  "turn.finished": barrier("turn"),
  "turn.paused": barrier("turn"),
  "results.given": barrier("turn"),
  "upstream.opened": barrier("turn"),
  "upstream.settled": barrier("turn"),
  "call.started": barrier("turn"),
  "call.finished": barrier("turn"),
  "call.lost": barrier("turn"),
  "message.sent": barrier("turn"),
  "message.started": step("turn"),
  "message.finished": step("turn"),
  "message.replaced": step("turn"),
  "text.delta": step("turn"),
  "text.finished": step("turn"),
  "thought.delta": step("turn"),
  "thought.finished": step("turn"),
  "tool.announced": step("tools"),
  "tool.input.delta": step("tools"),
  "tool.called": step("tools"),
  "tool.examined": step("tools"),
  "policy.decided": barrier("tools"),
  "tool.started": barrier("tools"),
  "tool.awaited": barrier("tools"),
  "tool.spawned": barrier("tools"),
  "tool.program.ended": step("tools"),
  "tool.progressed": step("tools"),
  "tool.finished": barrier("tools"),
  "plan.updated": step("tools"),
  "approval.requested": barrier("approvals"),
  "approval.routed": barrier("approvals"),
  "approval.voted": barrier("approvals"),
  "approval.resolved": barrier("approvals"),
  "grant.given": barrier("approvals"),
  "grant.revoked": barrier("approvals"),
  "approvals.doubted": barrier("approvals"),
  "client.attached": step("clients"),
  "client.seen": step("clients"),
  "client.detached": step("clients"),
  "control.passed": barrier("clients"),
  "host.requested": barrier("clients"),
  "host.answered": barrier("clients"),
  "usage.reported": step("turn"),
  "hook.fired": step("turn"),
  "activity.seen": step("turn"),
  "diagnostic.raised": step("turn"),
  "unknown.reported": step("turn"),
};

export function needsSync(event: AgentEvent): boolean {
  return EVENT_MANIFEST[event.type].barrier;
}
