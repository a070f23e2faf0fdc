import { expect, it } from "vitest";
import { EVENT_MANIFEST } from "./event-manifest.ts";

/** The only events which a power failure may lose: no effect follows from them. */
const WITHOUT_SYNC = [
  "session.title_changed",
  "message.started",
  "message.finished",
  "message.replaced",
  "text.delta",
  "text.finished",
  "thought.delta",
  "thought.finished",
  "tool_call.opened",
  "tool_call.input.delta",
  "tool_call.received",
  "tool_call.paths_resolved",
  "tool.process_exited",
  "tool.progress",
  "plan.updated",
  "progress.reported",
  "log.reported",
  "client.attached",
  "client.heartbeat",
  "client.detached",
  "files.changed",
  "usage.reported",
  "hook.fired",
  "provider.activity",
  "diagnostic.raised",
  "provider.unknown",
];

it("Every event that an effect or a decision depends on is synced before it, and no other", () => {
  const events = Object.entries(EVENT_MANIFEST);
  const unsynced = events.filter(([, { barrier }]) => !barrier).map(([type]) => type);
  expect(unsynced).toEqual(WITHOUT_SYNC);
});

it("Prompts, provider invocations, tool starts and approvals are barriers", () => {
  const types = [
    "prompt.accepted",
    "turn.started",
    "turn.finished",
    "invocation.started",
    "invocation.finished",
    "invocation.lost",
    "policy.decided",
    "tool.started",
    "tool.waiting_for_host",
    "tool.process_started",
    "tool.finished",
    "approval.requested",
    "approval.routed",
    "approval.voted",
    "approval.resolved",
    "grant.added",
    "grant.revoked",
    "host.requested",
    "host.replied",
  ] as const;
  expect(types.filter((type) => !EVENT_MANIFEST[type].barrier)).toEqual([]);
});
