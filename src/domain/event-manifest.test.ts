import { expect, it } from "vitest";
import { EVENT_MANIFEST } from "./event-manifest.ts";

/** An event that is lost with the power may be one of these only: no effect follows from them. */
const WITHOUT_SYNC = [
  "session.titled",
  "message.started",
  "message.finished",
  "message.replaced",
  "text.delta",
  "text.finished",
  "thought.delta",
  "thought.finished",
  "tool.announced",
  "tool.input.delta",
  "tool.called",
  "tool.examined",
  "tool.program.ended",
  "tool.progressed",
  "plan.updated",
  "client.attached",
  "client.seen",
  "client.detached",
  "usage.reported",
  "hook.fired",
  "activity.seen",
  "diagnostic.raised",
  "unknown.reported",
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
    "call.started",
    "call.finished",
    "call.lost",
    "policy.decided",
    "tool.started",
    "tool.awaited",
    "tool.spawned",
    "tool.finished",
    "approval.requested",
    "approval.routed",
    "approval.voted",
    "approval.resolved",
    "grant.given",
    "grant.revoked",
    "host.requested",
    "host.answered",
  ] as const;
  expect(types.filter((type) => !EVENT_MANIFEST[type].barrier)).toEqual([]);
});
