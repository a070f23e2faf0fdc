import { describe, expect, it } from "vitest";
import type { AgentSpec } from "../../../src/domain/agent-spec.ts";
import type { Envelope } from "../../../src/domain/events/envelope.ts";
import type { PromptPart } from "../../../src/domain/prompt.ts";
import type { Reminder } from "../../../src/domain/reminder.ts";
import type { CommandReply, SessionCommand } from "../../../src/domain/session-command.ts";
import type { ProviderEvent } from "../../../src/domain/provider/provider-event.ts";
import { createToolSuccess } from "../../../src/domain/tools/tool-call.ts";
import { generateCallBlocks, generateMessage } from "../../support/session/scripted-provider.ts";
import { logRules } from "../simulation/log-rules.ts";
import { simulatedSession, type SimulatedSession } from "../simulation/simulated-session.ts";

const SPEC: AgentSpec = {
  name: "demo",
  provider: {
    name: "simulated",
    injectionPoints: ["turn-start", "tool-results", "turn-end"],
    effectFree: false,
    canStop: false,
  },
  tools: [
    {
      name: "free_write",
      description: "Writes",
      schema: { type: "object" },
      idempotent: false,
      timeoutMs: 60_000,
    },
  ],
  approvals: { deny: [], ask: [], allow: ["*"], default: "allow" },
  caps: { steps: 20, seconds: 100_000, tokens: null, toolCalls: 20, parallelTools: 1 },
  onLost: "reseed",
  settle: "reseed",
  approvalMs: 600_000,
};

/** The steps around an injected message. Each step happens once, in every order. */
const STEPS = ["inject", "replace", "revoke", "work", "cancel", "kill"] as const;
type Step = (typeof STEPS)[number];
type Mode = "steer" | "queue";

interface Replies {
  readonly mode: Mode;
  inject?: CommandReply;
  revoke?: CommandReply;
  replace?: CommandReply;
}

function send(session: SimulatedSession, command: SessionCommand<PromptPart>): CommandReply {
  const actor = { kind: "user", principal: "me" } as const;
  const rights = ["prompt", "control"] as const;
  const { reply } = session.send({ type: "command-received", command, actor, rights });
  if (reply === undefined) throw new Error(`No reply to ${command.type}`);
  return reply;
}

/** Runs the next effect. The provider's first answer calls a tool; all later answers end the turn. */
function work(session: SimulatedSession): void {
  session.pass(1);
  const [effect] = session.effects;
  switch (effect?.type) {
    case "invoke": {
      const { invocationId } = effect;
      const calls = session.log.filter(({ event }) => event.type === "invocation.started");
      const outputs = answer(calls.length === 1).map((event) => ({ event }));
      session.send({ type: "provider-events", invocationId, outputs });
      return;
    }
    case "run-tool": {
      const { toolCallId, attempt, providerToolCallId } = effect;
      const result = createToolSuccess(providerToolCallId, "ok");
      const ended = { toolCallId, attempt, result, ending: "succeeded", durationMs: 1 } as const;
      session.send({ type: "tool-finished", ...ended });
      return;
    }
    case "settle-upstream": {
      const { upstreamId, policy } = effect;
      session.send({ type: "upstream-settled", upstreamId, policy });
      return;
    }
    default:
      return;
  }
}

function answer(isCalling: boolean): ProviderEvent[] {
  const calls = isCalling ? [{ id: "c1", name: "free_write" }] : [];
  const reason = isCalling ? "tool_use" : "end_turn";
  return [
    ...generateMessage([...generateCallBlocks(calls)], reason),
    {
      type: "end",
      outcome: isCalling ? "action-required" : "completed",
      reason,
      openToolCallIds: calls.map(({ id }) => id),
      usage: null,
    },
  ];
}

function perform(session: SimulatedSession, step: Step, replies: Replies): void {
  const { mode } = replies;
  const messageId =
    replies.inject?.status === "accepted" ? (replies.inject.messageId ?? "") : "msg_inj_none";
  session.pass(1);
  switch (step) {
    case "inject": {
      const content = [{ type: "text", text: "The first text" }] as const;
      replies.inject = send(session, { type: "inject", mode, content });
      return;
    }
    case "replace": {
      const content = [{ type: "text", text: "The second text" }] as const;
      replies.replace = send(session, { type: "replace-inject", messageId, content });
      return;
    }
    case "revoke":
      replies.revoke = send(session, { type: "revoke-inject", messageId });
      return;
    case "cancel":
      send(session, { type: "cancel" });
      return;
    case "kill":
      session.kill("log");
      session.send({ type: "recovery-started", epoch: session.log.length });
      return;
    case "work":
      work(session);
      return;
  }
}

function* permutations<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  if (items.length <= 1) return yield items;
  for (const [at, first] of items.entries())
    for (const rest of permutations(items.toSpliced(at, 1))) yield [first, ...rest];
}

function deliveries(log: readonly Envelope[], reply: CommandReply | undefined): string[] {
  return log.flatMap(({ event }) =>
    event.type === "message.sent" &&
    reply?.status === "accepted" &&
    event.messageId === reply.messageId
      ? event.content.map((part) => (part.type === "text" ? part.text : ""))
      : [],
  );
}

function reasonOf(reply: CommandReply | undefined): unknown {
  if (reply?.status === "accepted") return reply.injectionStatus;
  return reply?.failure.details["reason"];
}

/** Plays an order of steps, some work into a turn, until the session rests. The replies must agree with the log. */
function check(order: readonly Step[], mode: Mode, workBefore: number): void {
  const session = simulatedSession(SPEC, logRules(SPEC));
  send(session, { type: "prompt", content: [{ type: "text", text: "Go" }] });
  for (let count = 0; count < workBefore; count++) work(session);
  const replies: Replies = { mode };
  for (const step of order) perform(session, step, replies);
  for (let round = 0; round < 50 && session.state.turn.current !== null; round++) work(session);
  const at = `${mode} after ${workBefore}: ${order.join(", ")}`;
  expect(session.state.steering.pending, at).toEqual([]);
  const revoked = reasonOf(replies.revoke);
  const replaced = reasonOf(replies.replace);
  const text = replaced === "replaced" ? "The second text" : "The first text";
  expect(deliveries(session.log, replies.inject), at).toEqual(revoked === "revoked" ? [] : [text]);
  const isBefore = (first: Step, second: Step) => order.indexOf(first) < order.indexOf(second);
  expect(revoked, at).toBeOneOf(
    isBefore("inject", "revoke") ? ["revoked", "already_delivered"] : ["unknown_message_id"],
  );
  expect(replaced, at).toBeOneOf(
    isBefore("inject", "replace")
      ? [
          "replaced",
          "already_delivered",
          ...(isBefore("revoke", "replace") ? ["already_revoked"] : []),
        ]
      : ["unknown_message_id"],
  );
}

describe("An injected message and everything that can happen around it, in every order", () => {
  it.each(["steer", "queue"] as const)(
    "A %s message is delivered exactly once or revoked, and every reply agrees with the log [ACP-115] [ACP-119] [B-168] [B-175] [B-176] [B-177]",
    (mode) => {
      let count = 0;
      for (const workBefore of [0, 1, 2])
        for (const order of permutations(STEPS)) {
          check(order, mode, workBefore);
          count += 1;
        }
      expect(count).toBe(3 * 720);
    },
  );
});

/** The steps around a reminder of a daemon, which `resume` wakes. */
const REMINDER_STEPS = ["remind", "revoke", "resume", "work", "cancel", "kill"] as const;
type ReminderStep = (typeof REMINDER_STEPS)[number];

const REMINDER_MODES = ["interrupt_immediate", "finish_step", "audit_only"] as const;
type ReminderMode = (typeof REMINDER_MODES)[number];

const BODY = "Read src/lib.rs again.";

interface ReminderReplies {
  remind?: CommandReply;
  revoke?: CommandReply;
}

function readReminderId({ remind }: ReminderReplies): string {
  return remind?.status === "accepted" ? (remind.reminderId ?? "") : "rem_none";
}

function performReminderStep(
  session: SimulatedSession,
  step: ReminderStep,
  { mode, replies }: { readonly mode: ReminderMode; readonly replies: ReminderReplies },
): void {
  session.pass(1);
  switch (step) {
    case "remind": {
      const reminder: Reminder = {
        body: BODY,
        tags: [],
        mode,
        roleHint: "system",
        authority: "contract",
        source: "bridge",
        propagate: "session",
      };
      replies.remind = send(session, { type: "remind", reminder });
      return;
    }
    case "revoke": {
      const reminderId = readReminderId(replies);
      replies.revoke = send(session, { type: "revoke-reminder", reminderId });
      return;
    }
    case "resume":
      send(session, { type: "resume-daemon" });
      return;
    case "cancel":
    case "kill":
    case "work":
      perform(session, step, { mode: "steer" });
      return;
    default:
      step satisfies never;
  }
}

function drain(session: SimulatedSession): void {
  for (let round = 0; round < 50 && session.state.turn.current !== null; round++) work(session);
  expect(session.state.turn.current).toBeNull();
}

/** Plays an order of steps, some work into a turn, and a further turn. The replies must agree with the log. */
function checkReminder(
  order: readonly ReminderStep[],
  mode: ReminderMode,
  workBefore: number,
): void {
  const spec = { ...SPEC, daemon: {} };
  const session = simulatedSession(spec, logRules(spec));
  send(session, { type: "prompt", content: [{ type: "text", text: "Go" }] });
  for (let count = 0; count < workBefore; count++) work(session);
  const replies: ReminderReplies = {};
  for (const step of order) performReminderStep(session, step, { mode, replies });
  drain(session);
  session.pass(1);
  send(session, { type: "prompt", content: [{ type: "text", text: "Next" }] });
  drain(session);
  const at = `${mode} after ${workBefore}: ${order.join(", ")}`;
  expect(session.state.steering.pending, at).toEqual([]);
  const types = session.log.flatMap(({ event }) =>
    "reminderId" in event && event.reminderId === readReminderId(replies) ? [event.type] : [],
  );
  const revoked = reasonOf(replies.revoke);
  const delivery = mode === "audit_only" ? "reminder.recorded" : "reminder.emitted";
  const outcome = revoked === "revoked" ? "reminder.revoked" : delivery;
  expect(types, at).toEqual(["reminder.queued", outcome]);
  const isRemindedFirst = order.indexOf("remind") < order.indexOf("revoke");
  expect(revoked, at).toBeOneOf(
    isRemindedFirst ? ["revoked", "already_delivered"] : ["unknown_message_id"],
  );
  const sent = session.log.filter(
    ({ event }) => event.type === "message.sent" && JSON.stringify(event).includes(BODY),
  );
  expect(sent, at).toHaveLength(outcome === "reminder.emitted" ? 1 : 0);
}

describe("A reminder and everything that can happen around it, in every order", () => {
  it.each(REMINDER_MODES)(
    "A reminder of the mode %s has exactly one outcome, and the reply to its revocation agrees with the log [ACP-116] [B-193] [B-195]",
    (mode) => {
      let count = 0;
      for (const workBefore of [0, 1, 2])
        for (const order of permutations(REMINDER_STEPS)) {
          checkReminder(order, mode, workBefore);
          count += 1;
        }
      expect(count).toBe(3 * 720);
    },
  );
});
