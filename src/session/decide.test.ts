import { describe, expect, it } from "vitest";
import type { AgentSpec } from "../domain/agent-spec.ts";
import type { SessionEvent } from "../domain/events/session-event.ts";
import type { PromptPart } from "../domain/prompt.ts";
import type { ProviderEvent } from "../domain/provider/provider-event.ts";
import type { SessionCommand } from "../domain/session-command.ts";
import { createToolCall, createToolError, createToolSuccess } from "../domain/tools/tool-call.ts";
import { decide } from "./decide.ts";
import { findDueEffects } from "./due-effects.ts";
import { evolve } from "./evolve.ts";
import type { SessionInput } from "./session-input.ts";
import { collectSessionFields } from "./runtime/log/append-decision.ts";
import { initialState } from "./session-state.ts";

const TOOLS = ["read", "write", "rm_all"].map((name) => {
  return { name, description: "", schema: {}, idempotent: false, timeoutMs: 1000 };
});
const FACTS: AgentSpec = {
  name: "demo",
  provider: {
    name: "p",
    injectionPoints: ["turn-start", "tool-results"],
    effectFree: false,
    canStop: true,
  },
  tools: TOOLS,
  approvals: { deny: ["rm*"], ask: ["write"], allow: ["read"], default: "ask" },
  caps: { steps: 10, seconds: 600, tokens: null, toolCalls: 20, parallelTools: 2 },
  onLost: "ask",
  settle: "stop",
  approvalMs: 60_000,
};
const OPENED = {
  type: "open-requested",
  agent: { digest: "d", spec: FACTS },
  principal: "me",
} as const;
const SEED = "0".repeat(13);
const START = Date.UTC(2026, 10, 16);

function opened(spec = FACTS) {
  let state = initialState;
  let at = START;
  const send = (input: SessionInput) => {
    const { events, reply } = decide(state, { ...input, at, seed: SEED });
    state = events.reduce(evolve, state);
    at += 1;
    return { events: events.map(({ event }) => event), reply, due: findDueEffects(state) };
  };
  send({ ...OPENED, agent: { digest: "d", spec } });
  const command = (made: SessionCommand<PromptPart>, clientId?: string) =>
    send({
      type: "command-received",
      command: made,
      actor: { kind: "user", principal: "me", ...(clientId !== undefined && { clientId }) },
      rights: ["prompt", "approve", "control"],
    });
  return {
    get state() {
      return state;
    },
    send,
    command,
    pass(milliseconds: number) {
      at += milliseconds;
    },
    prompt: () => command({ type: "prompt", content: [{ type: "text", text: "Hi" }] }),
    say(...events: readonly ProviderEvent[]) {
      const stage = state.turn.current?.stage;
      const invocationId = stage?.type === "invoking" ? stage.invocation.invocationId : "";
      return send({
        type: "provider-events",
        invocationId,
        outputs: events.map((event) => ({ event })),
      });
    },
  };
}

const id = (prefix: string) => expect.stringMatching(new RegExp(`^${prefix}_[0-9a-z]{26}`));
const start: ProviderEvent = { type: "message.start", message: 0, role: "assistant" };
const called = (block: number, callId: string, name = "read"): ProviderEvent => ({
  type: "tool.end",
  message: 0,
  block,
  toolCall: createToolCall({ id: callId, name, inputText: "{}", runBy: "client" }),
});
const waits = (...openToolCallIds: readonly string[]): ProviderEvent => ({
  type: "end",
  outcome: "action-required",
  reason: "tool_use",
  openToolCallIds,
  usage: null,
});

describe("decide", () => {
  it("A prompt starts a turn, an upstream session and an invocation, and the invocation is due", () => {
    const session = opened();
    const { events, reply, due: todo } = session.prompt();
    expect(events).toEqual([
      { type: "prompt.accepted", promptId: id("prompt"), content: [{ type: "text", text: "Hi" }] },
      { type: "turn.started", turnId: id("turn"), promptId: id("prompt") },
      {
        type: "message.sent",
        messageId: id("msg"),
        content: [{ type: "text", text: "Hi" }],
        origin: "prompt",
        promptId: id("prompt"),
      },
      {
        type: "upstream.opened",
        upstreamId: expect.stringMatching(/^spanline-[0-9a-z]{26}$/),
        seeded: false,
      },
      {
        type: "invocation.started",
        invocationId: id("inv"),
        upstreamId: expect.stringMatching(/^spanline-/),
        purpose: "prompt",
      },
    ]);
    const [promptId, turnId] = [id("prompt"), id("turn")];
    expect(reply).toEqual({ status: "accepted", promptId, turnId, seq: 3 });
    expect([...todo.effects.values()]).toEqual([
      {
        type: "invoke",
        invocationId: id("inv"),
        upstreamId: expect.stringMatching(/^spanline-/),
        outgoing: { texts: ["Hi"], toolResults: null },
        isSeeding: false,
      },
    ]);
  });

  it("The same input leads to the same decision", () => {
    const input = { ...OPENED, at: START, seed: SEED };
    expect(decide(initialState, input)).toEqual(decide(initialState, input));
  });

  it("Tool calls are denied, approved by people or started according to the lists", () => {
    const session = opened();
    session.prompt();
    const calls = [called(0, "c1", "rm_all"), called(1, "c2", "write"), called(2, "c3", "read")];
    const { events, due: todo } = session.say(start, ...calls, waits("c1", "c2", "c3"));
    expect(events.slice(-6)).toMatchObject([
      { type: "policy.decided", agent: "d", decision: { action: "deny", approvers: 0 } },
      { type: "tool.finished", ending: "denied" },
      { type: "policy.decided", agent: "d", decision: { action: "ask", approvers: 1 } },
      {
        type: "approval.requested",
        question: "run",
        options: ["allow", "allow-always", "deny"],
        action: "write",
        approvers: 1,
      },
      { type: "policy.decided", agent: "d", decision: { action: "allow", approvers: 0 } },
      { type: "tool.started", attempt: 1 },
    ]);
    expect([...todo.effects.values()]).toMatchObject([
      { type: "run-tool", name: "read", attempt: 1 },
    ]);
    expect(todo.wakeAt).toBe(START + 2 + 60_000);
  });

  it.each([undefined, "Ask", "yes"])(
    "A tool needs approval if the default rule is %s, which is not valid",
    (odd) => {
      const approvals = odd === undefined ? {} : { default: odd };
      // A log may contain values which the types do not allow.
      const facts: AgentSpec = JSON.parse(JSON.stringify({ ...FACTS, approvals }));
      const session = opened(facts);
      session.prompt();
      const { events } = session.say(start, called(0, "c1"), waits("c1"));
      expect(events.at(-1)).toMatchObject({ type: "approval.requested", action: "read" });
    },
  );

  it("A refused command changes nothing, not even state affected by time", () => {
    const session = opened();
    session.prompt();
    session.command({ type: "cancel" });
    session.prompt();
    session.pass(700_000);
    const { events, reply } = session.command({ type: "withdraw-prompt", promptId: "prompt_none" });
    expect({ events, reply }).toEqual({
      events: [],
      reply: {
        status: "refused",
        failure: {
          code: "not_found",
          message: "This prompt is not queued: its turn has started, or it does not exist",
          details: {},
        },
      },
    });
    expect(session.send({ type: "time-passed" }).events).toMatchObject([
      { type: "turn.finished", outcome: "limited", reason: "max_seconds" },
    ]);
  });

  it("An expired approval request accepts no decision, even before its expiry is recorded", () => {
    const session = opened();
    session.prompt();
    session.say(start, called(0, "c1", "write"), waits("c1"));
    const approvalId = session.state.approvals.pending[0]?.approvalId ?? "";
    session.pass(60_000);
    const answer = { type: "decide-approval", approvalId, decision: "allow" } as const;
    expect(session.command(answer)).toMatchObject({ events: [], reply: { status: "refused" } });
    expect(session.send({ type: "time-passed" }).events).toMatchObject([
      { type: "approval.resolved", approvalId, decision: "deny", resolvedBy: "deadline" },
      { type: "tool.finished", ending: "denied" },
      { type: "invocation.started", purpose: "results" },
    ]);
  });

  it("A process is forgotten when its tool or a restart ends it, but not on cancel", () => {
    const session = opened();
    session.prompt();
    session.say(start, called(0, "c1"), called(1, "c2"), waits("c1", "c2"));
    const [first, second] = session.state.tools.runs.map(({ toolCallId }) => toolCallId);
    for (const [index, toolCallId = ""] of [first, second].entries()) {
      const group = { id: index, startTime: "then" };
      session.send({ type: "process-started", toolCallId, attempt: 1, group });
    }
    const result = createToolSuccess("c1", "ok");
    const ended = { attempt: 1, ending: "succeeded", result, durationMs: 1 } as const;
    session.send({ type: "tool-finished", toolCallId: first ?? "", ...ended });
    session.prompt();
    session.command({ type: "cancel" });
    expect(session.state.tools).toMatchObject({
      runs: [],
      processes: [{ toolCallId: second, group: { id: 1, startTime: "then" } }],
    });
    session.command({ type: "cancel" });
    expect(collectSessionFields([], session.state)).toEqual({ state: "running" });
    const recovered = session.send({ type: "recovery-started", epoch: 2 });
    expect(recovered.events).toEqual([{ type: "session.recovered", epoch: 2 }]);
    expect(session.state.tools.processes).toEqual([]);
    expect(collectSessionFields([], session.state)).toEqual({ state: "idle" });
  });

  it("Of many processes, only exited ones are forgotten, each once", () => {
    const session = opened();
    session.prompt();
    session.say(start, called(0, "c1"), waits("c1"));
    const { toolCallId = "" } = session.state.tools.runs[0] ?? {};
    const group = (id: number) => ({ id, startTime: "then" });
    for (let id = 1; id <= 150; id++) {
      session.send({ type: "process-started", toolCallId, attempt: 1, group: group(id) });
    }
    expect(session.state.tools.processes.length).toBe(150);
    session.command({ type: "cancel" });
    const ended = { type: "process-exited", toolCallId, group: group(1) } as const;
    expect(session.send(ended).events).toEqual([
      { type: "tool.process_exited", toolCallId, group: group(1) },
    ]);
    expect(session.send(ended).events).toEqual([]);
    expect(session.state.tools.processes[0]).toEqual({ toolCallId, group: group(2) });
  });

  it("An idempotent tool interrupted three times needs approval", () => {
    const tools = TOOLS.map((facts) => ({ ...facts, idempotent: true }));
    const session = opened({ ...FACTS, tools });
    session.prompt();
    session.say(start, called(0, "c1"), waits("c1"));
    const last = () => session.send({ type: "recovery-started", epoch: 2 }).events.at(-1);
    expect(last()).toMatchObject({ type: "tool.started", attempt: 2 });
    expect(last()).toMatchObject({ type: "tool.started", attempt: 3 });
    expect(last()).toMatchObject({ type: "approval.requested", question: "outcome" });
  });
});

describe("Provider events in decide", () => {
  const applyEvents = (...events: readonly ProviderEvent[]): SessionEvent[] => {
    const session = opened();
    session.prompt();
    return session.say(...events).events;
  };
  const at = { message: 0, block: 0 };

  it("Text without a message start is still shown", () => {
    expect(applyEvents({ type: "text.delta", ...at, text: "Hm" })).toEqual([
      { type: "message.started", messageId: id("msg"), role: "other" },
      { type: "text.delta", messageId: id("msg"), block: 0, text: "Hm" },
    ]);
  });

  it("An event for a closed block or with another block's number is reported and ignored", () => {
    const events = applyEvents(
      start,
      { type: "text.end", ...at, text: "Hm" },
      { type: "text.delta", ...at, text: "!" },
      called(0, "c1"),
      start,
      { type: "tool.delta", message: 0, block: 9, toolCallId: "c9", text: "{" },
      { type: "tool.result", message: 0, block: 8, result: createToolSuccess("c8", "ok") },
      { type: "message.end", message: 7, reason: null },
    );
    expect(
      events
        .slice(2)
        .map((event) => (event.type === "diagnostic.raised" ? event.diagnostic.code : event)),
    ).toEqual([
      "event_after_end",
      "block_kind_mismatch",
      "malformed_event",
      "tool_input_unmatched",
      "tool_result_unmatched",
      "malformed_event",
    ]);
  });

  it("A late event about replaced text does not restore the text", () => {
    const events = applyEvents(
      start,
      { type: "text.delta", ...at, text: "The secret" },
      { type: "message.replaced", message: 0, text: "Withheld." },
      { type: "text.end", ...at, text: "The secret is" },
      { type: "message.end", message: 0, reason: "end_turn" },
    );
    expect(events.map(({ type }) => type)).toEqual([
      "message.started",
      "text.delta",
      "message.replaced",
      "message.finished",
    ]);
  });

  it("A repeated tool call id is one call, the last; a server call keeps its result", () => {
    const session = opened();
    session.prompt();
    session.say(
      start,
      called(0, "c1"),
      { type: "tool.result", message: 0, block: 1, result: createToolSuccess("c1", "there") },
      called(2, "c1"),
      called(3, "c1"),
      waits("c1"),
    );
    expect(session.state.tools.runs.map(({ status, ending }) => [status, ending])).toEqual([
      ["finished", "server"],
      ["finished", "cancelled"],
      ["running", undefined],
    ]);
    expect(session.state.turn.upstream?.pendingToolCalls).toMatchObject({
      messages: [
        { blocks: [{ type: "tool-call" }, { type: "tool-result" }, { type: "tool-call" }] },
      ],
      toolCalls: [{ toolCallId: session.state.tools.runs[2]?.toolCallId }],
    });
  });

  it("Server tool calls which do not wait for results run nothing", () => {
    const server: ProviderEvent = {
      type: "tool.end",
      ...at,
      toolCall: createToolCall({ id: "c1", name: "read", inputText: "{}", runBy: "server" }),
    };
    expect(applyEvents(start, server, waits("c1")).slice(2)).toMatchObject([
      { type: "message.finished", interrupted: true },
      {
        type: "tool.finished",
        ending: "cancelled",
        result: createToolError(
          "c1",
          "No result of read arrived. The agent did not wait for this call.",
        ),
      },
      { type: "invocation.finished", outcome: "action-required" },
      { type: "turn.finished", outcome: "failed", failure: { code: "protocol_error" } },
    ]);
  });
});

describe("Clients of a session", () => {
  const attach = (clientId: string, mode: "controller" | "observer", takeOver = false) =>
    ({ type: "attach", clientId, mode, name: clientId, takeOver }) as const;

  it("A session has at most one controller, and another client takes over only explicitly", () => {
    const session = opened();
    session.command(attach("a", "controller"));
    expect(session.command(attach("b", "controller")).reply).toMatchObject({ status: "refused" });
    session.command(attach("b", "observer"));
    const stolen = session.command(attach("b", "observer"));
    expect(stolen.reply).toMatchObject({ failure: { code: "access_denied" } });
    expect(session.command(attach("b", "controller", true), "b").events).toEqual([
      { type: "client.attached", clientId: "b", mode: "controller", name: "b" },
      { type: "controller.changed", from: "a", to: "b" },
    ]);
    const detach = { type: "detach", clientId: "b", reason: "closed" } as const;
    expect(session.command(detach).events).toEqual([
      { type: "client.detached", clientId: "b", reason: "closed" },
      { type: "controller.changed", from: "b", to: null },
    ]);
    expect(session.state.clients).toEqual({
      attached: [
        {
          clientId: "a",
          name: "a",
          attachedAt: START + 1,
          lastSeenAt: START + 1,
          mayPrompt: null,
          mayApprove: null,
          isStock: false,
          metadata: {},
          secretDigest: null,
          attachmentId: null,
        },
      ],
      controller: null,
      requests: [],
      reservedNames: [],
    });
    expect(session.command(detach).reply).toMatchObject({ status: "refused" });
  });
});
