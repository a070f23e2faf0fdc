import { describe, expect, it, vi } from "vitest";
import type { ErrorCode } from "../../../src/domain/errors.ts";
import { createToolError, createToolSuccess } from "../../../src/domain/tools/tool-call.ts";
import type { Usage } from "../../../src/domain/usage.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import {
  waitForAbort,
  createTurnEnd,
  createFailure,
  hangs,
  generateMessage,
  refuses,
  says,
  createScriptedProvider,
  wants,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import { createAgent, ME, createTool, openWorld } from "../../support/session/session-world.ts";

const work = createTool({ name: "work" }, () => "done");
const wantsWork = wants({ id: "c1", name: "work" });

function usage(totalTokens: number): Usage {
  const none = { cacheReadTokens: 0, cacheWriteTokens: 0 };
  return { inputTokens: totalTokens, outputTokens: 0, ...none, totalTokens };
}

describe("Prompts of a session", () => {
  it("Prompts wait for the running turn in order, and never start a parallel invocation [RMA-P0-7]", async () => {
    let underWay = 0;
    let most = 0;
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow: ProviderScript = async function* (signal, call) {
      underWay += 1;
      most = Math.max(most, underWay);
      await gate;
      yield* says("Yes.", { usage: usage(10) })(signal, call);
      underWay -= 1;
    };
    const provider = createScriptedProvider([slow]);
    const world = await openWorld(createAgent({ provider }));
    const first = await world.prompt("One");
    expect(first).toMatchObject({ status: "accepted", turnId: expect.any(String) });
    const second = await world.prompt("Two");
    expect(second).toEqual({
      status: "accepted",
      promptId: expect.any(String),
      seq: expect.any(Number),
    });
    const third = await world.prompt("Three");
    const withdrawn = third.status === "accepted" ? (third.promptId ?? "") : "";
    await world.send({ type: "withdraw-prompt", promptId: withdrawn });
    await world.prompt("Four");
    release();
    await world.waitForEvent("turn.finished", 3);
    expect(most).toBe(1);
    const texts = provider.invocations.map(({ input }) => input.texts);
    expect(texts).toEqual([["One"], ["Two"], ["Four"]]);
    // Each turn has its own count, and a further prompt does not reset it.
    expect(await world.listEvents("turn.finished")).toMatchObject([
      { steps: 1, usage: usage(10) },
      { steps: 1, usage: usage(10) },
      { steps: 1, usage: usage(10) },
    ]);
    const same = new Set(provider.invocations.map(({ sessionId }) => sessionId));
    expect(same.size).toBe(1);
  });

  it("Empty prompts, prompts without the right, and prompts beyond the queue limit are refused", async () => {
    const world = await openWorld(createAgent({ provider: createScriptedProvider([hangs()]) }));
    const before = await world.readLog();
    expect(await world.prompt(" \n")).toMatchObject({ failure: { code: "invalid_message" } });
    const command = { type: "prompt", content: [{ type: "text", text: "Hi" }] } as const;
    const principal = { id: "guest", rights: ["approve", "control"] } as const;
    expect(await world.sessions.command(world.sessionId, command, { principal })).toMatchObject({
      failure: { code: "access_denied" },
    });
    expect(await world.readLog()).toEqual(before);
    await Promise.all(Array.from({ length: 101 }, () => world.prompt("Hi")));
    expect(await world.prompt("Hi")).toMatchObject({ failure: { code: "conflict" } });
  });

  it("Repeated prompts with one command id get the same reply and start one turn", async () => {
    const provider = createScriptedProvider([says("Yes.")]);
    const world = await openWorld(createAgent({ provider }));
    const command = { type: "prompt", content: [{ type: "text", text: "Hi" }] } as const;
    const first = await world.send(command, { commandId: "1" });
    expect(await world.send(command, { commandId: "1" })).toEqual(first);
    await world.waitForEvent("turn.finished");
    const again = await world.restart();
    expect(await again.send(command, { commandId: "1" })).toEqual(first);
    expect(provider.invocations.length).toBe(1);
    // The same command id of another principal is another command.
    const principal = { ...ME, id: "you" };
    const others = await again.send(command, { principal, commandId: "1" });
    expect(others).toEqual({
      status: "accepted",
      seq: expect.any(Number),
      promptId: expect.any(String),
      turnId: expect.any(String),
    });
    expect(others).not.toEqual(first);
    await again.waitForEvent("turn.finished", 2);
    expect(provider.invocations.length).toBe(2);
  });

  it("A repeated cancel which had no effect does not cancel a later turn", async () => {
    const world = await openWorld(
      createAgent({ provider: createScriptedProvider([hangs(), says("Yes.")]) }),
    );
    const cancel = { type: "cancel" } as const;
    expect(await world.send(cancel, { commandId: "1" })).toEqual({ status: "accepted" });
    await world.prompt("Hi");
    expect(await world.send(cancel, { commandId: "1" })).toEqual({ status: "accepted" });
    expect(await world.listEvents("turn.finished")).toEqual([]);
  });
});

describe("Cancelling a turn", () => {
  it("A cancel closes the message, ignores further events, and delays the next prompt until the invocation is over [ACP-106]", async () => {
    const order: string[] = [];
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const stubborn: ProviderScript = async function* (signal) {
      yield { type: "message.start", message: 0, role: "assistant" };
      yield { type: "text.delta", message: 0, block: 0, text: "Well" };
      await waitForAbort(signal);
      try {
        // Too late to be applied.
        yield { type: "text.end", message: 0, block: 0, text: "Well, well" };
        yield createTurnEnd({ outcome: "completed" });
      } finally {
        await gate;
        order.push("over");
      }
    };
    const next: ProviderScript = async function* (signal, call) {
      order.push("next");
      yield* says("Yes.")(signal, call);
    };
    const provider = createScriptedProvider([stubborn, next], {
      onStop: async () => void order.push("stop"),
    });
    const world = await openWorld(createAgent({ provider }));
    await world.prompt("One");
    await world.waitForEvent("text.delta");
    await world.cancel();
    const cancelled = (await world.readLog()).slice(-4).map(({ event }) => event);
    const messageId = expect.any(String);
    expect(cancelled).toEqual([
      { type: "text.finished", messageId, block: 0, text: "Well", interrupted: true },
      { type: "message.finished", messageId, reason: null, interrupted: true },
      {
        type: "invocation.finished",
        invocationId: expect.any(String),
        outcome: "cancelled",
        reason: null,
        usage: null,
      },
      {
        type: "turn.finished",
        turnId: expect.any(String),
        outcome: "cancelled",
        reason: null,
        usage: null,
        steps: 1,
      },
    ]);
    await world.prompt("Two");
    await world.waitForEvent("turn.started", 2);
    release();
    await world.waitForEvent("turn.finished", 2);
    expect(order).toEqual(["over", "stop", "next"]);
    const texts = (await world.listEvents("text.finished")).map(({ text }) => text);
    expect(texts).toEqual(["Well", "Yes."]);
  });

  it("After a cancelled tool call, the next prompt carries the results of finished and cancelled calls [RMA-P1-9] [ACP-91]", async () => {
    const provider = createScriptedProvider([
      wants({ id: "c1", name: "work" }, { id: "c2", name: "wait" }, { id: "c3", name: "ask" }),
      says("I see."),
    ]);
    const wait = createTool({ name: "wait" }, () => new Promise(() => undefined));
    const ask = createTool({ name: "ask" }, () => "never");
    const approvals = { deny: [], ask: ["ask"], allow: ["*"], default: "ask" } as const;
    const world = await openWorld(createAgent({ provider, tools: [work, wait, ask], approvals }));
    await world.prompt("Work.");
    await world.waitForEvent("tool.finished");
    await world.cancel();
    expect((await world.listEvents("tool.finished")).map(({ ending: how }) => how)).toEqual([
      "succeeded",
      "cancelled",
      "cancelled",
    ]);
    expect(await world.listEvents("approval.resolved")).toMatchObject([{ resolvedBy: "cancel" }]);
    await world.prompt("Leave it.");
    await world.waitForEvent("turn.finished", 2);
    const [first, second] = provider.invocations;
    const unknown = "Its effects so far are unknown.";
    expect(second).toMatchObject({
      sessionId: first?.sessionId,
      history: [],
      input: {
        type: "results",
        texts: ["Leave it."],
        results: [
          createToolSuccess("c1", "done"),
          createToolError("c2", `wait was stopped: the turn was cancelled. ${unknown}`),
          createToolError("c3", "ask was not run: the turn was cancelled."),
        ],
      },
    });
  });

  it("A cancel of another turn than the running one has no effect", async () => {
    const world = await openWorld(createAgent({ provider: createScriptedProvider([hangs()]) }));
    await world.prompt("Hi");
    const cancel = { type: "cancel", turnId: "turn_other" } as const;
    expect(await world.send(cancel)).toEqual({ status: "accepted" });
    expect(await world.listEvents("turn.finished")).toEqual([]);
  });
});

describe("A turn", () => {
  it("Texts are kept separately by message and block [RMA-P1-16]", async () => {
    const twice: ProviderScript = async function* () {
      yield { type: "message.start", message: 0, role: "assistant" };
      yield { type: "text.end", message: 0, block: 0, text: "One." };
      yield { type: "text.end", message: 0, block: 1, text: "Two." };
      yield { type: "message.end", message: 0, reason: "end_turn" };
      yield createTurnEnd({ outcome: "completed" });
    };
    const provider = createScriptedProvider([wantsWork, twice]);
    const world = await openWorld(createAgent({ provider, tools: [work] }));
    await world.prompt("Work.");
    await world.waitForEvent("turn.finished");
    const texts = await world.listEvents("text.finished");
    expect(texts.map(({ block, text }) => [block, text])).toEqual([
      [0, "Let me see."],
      [0, "One."],
      [1, "Two."],
    ]);
    expect(new Set(texts.map(({ messageId }) => messageId)).size).toBe(2);
  });

  it.each<[ErrorCode, ProviderScript]>([
    [
      "stream_exception",
      says("Half", { outcome: "failed", failure: createFailure("stream_exception") }),
    ],
    ["throttled", refuses("throttled")],
    ["connect_failed", refuses("connect_failed")],
    ["service_failed", refuses("service_failed")],
  ])(
    "A turn that fails with %s is logged as failed, and the session continues [RMA-P1-11]",
    async (code, answer) => {
      const provider = createScriptedProvider([answer, says("Yes.")]);
      const world = await openWorld(createAgent({ provider }));
      await world.prompt("One");
      expect(await world.waitForEvent("turn.finished")).toMatchObject({
        outcome: "failed",
        failure: { code, message: expect.any(String) },
      });
      await world.prompt("Two");
      expect(await world.waitForEvent("turn.finished", 2)).toMatchObject({ outcome: "completed" });
    },
  );

  it("An invocation whose provider throws an unknown error is lost, since its progress is unknown", async () => {
    // eslint-disable-next-line require-yield
    const broken: ProviderScript = async function* () {
      throw new TypeError("fetch failed");
    };
    const world = await openWorld(
      createAgent({ provider: createScriptedProvider([broken, says("Yes.")]) }),
    );
    await world.prompt("One");
    expect(await world.waitForEvent("invocation.lost")).toMatchObject({
      failure: { code: "service_failed", message: "The provider failed: fetch failed" },
    });
    expect(await world.waitForEvent("approval.requested")).toMatchObject({
      question: "lost-invocation",
    });
  });

  it("A turn that stops for tool calls but names none fails, and the next prompt starts normally", async () => {
    const confused: ProviderScript = async function* () {
      yield* generateMessage([], "tool_use");
      yield createTurnEnd({ outcome: "action-required" });
    };
    const provider = createScriptedProvider([confused, says("Yes.")]);
    const world = await openWorld(createAgent({ provider }));
    await world.prompt("One");
    expect(await world.waitForEvent("turn.finished")).toMatchObject({
      failure: { code: "protocol_error" },
    });
    await world.prompt("Two");
    expect(await world.waitForEvent("turn.finished", 2)).toMatchObject({ outcome: "completed" });
    expect(provider.invocations[1]?.input).toEqual({ type: "prompt", texts: ["Two"] });
  });

  it("Time spent waiting for people does not count", async () => {
    const clock = createFakeClock();
    const approvals = { deny: [], ask: ["work"], allow: [], default: "deny" } as const;
    const provider = createScriptedProvider([wantsWork, says("Sent.")]);
    const caps = { seconds: 60 };
    const world = await openWorld(createAgent({ provider, tools: [work], approvals, caps }), {
      clock,
    });
    await world.prompt("Send it");
    const { approvalId } = await world.waitForEvent("approval.requested");
    clock.advance(500_000);
    await world.decideApproval(approvalId, "allow");
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
  });

  it("Time without a running bridge does not count", async () => {
    const clock = createFakeClock();
    const provider = createScriptedProvider([hangs(), says("Yes.")]);
    const parts = { provider, onLost: "reseed", caps: { seconds: 60 } } as const;
    const killed = await openWorld(createAgent(parts), { clock });
    await killed.prompt("One");
    await killed.waitForEvent("text.delta");
    clock.jump(3_600_000);
    const world = await killed.restart();
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
  });

  it("An invocation whose stream stops without an end is lost, not stuck", async () => {
    const mute: ProviderScript = async function* () {
      yield* generateMessage([], "end_turn");
    };
    const world = await openWorld(
      createAgent({ provider: createScriptedProvider([mute, says("Yes.")]) }),
    );
    await world.prompt("One");
    expect(await world.waitForEvent("invocation.lost")).toMatchObject({
      failure: { code: "incomplete_turn" },
    });
  });

  it("A turn ends at its step limit before the next invocation, and the results wait for the next prompt [RMA-P1-18]", async () => {
    const provider = createScriptedProvider([wantsWork, wantsWork, says("Done.")]);
    const world = await openWorld(createAgent({ provider, tools: [work], caps: { steps: 2 } }));
    await world.prompt("Work.");
    expect(await world.waitForEvent("turn.finished")).toMatchObject({
      outcome: "limited",
      reason: "max_steps",
      steps: 2,
    });
    expect(provider.invocations.length).toBe(2);
    await world.prompt("Go on.");
    await world.waitForEvent("turn.finished", 2);
    expect(provider.invocations[2]?.input).toMatchObject({ type: "results", texts: ["Go on."] });
  });

  it("A turn is limited in seconds, tokens and tool calls", async () => {
    const clock = createFakeClock();
    const slow = createTool({ name: "work" }, () => {
      clock.advance(60_000);
      return "done";
    });
    const costly: ProviderScript = async function* (signal, call) {
      for await (const event of wantsWork(signal, call)) {
        yield event.type === "end" ? { ...event, usage: usage(1000) } : event;
      }
    };
    const limits = [
      ["max_seconds", { seconds: 60 }],
      ["max_tokens", { tokens: 1000 }],
      ["max_tool_calls", { toolCalls: 1 }],
    ] as const;
    for (const [reason, caps] of limits) {
      const provider = createScriptedProvider([costly]);
      const world = await openWorld(createAgent({ provider, tools: [slow], caps }), { clock });
      await world.prompt("Work.");
      expect(await world.waitForEvent("turn.finished")).toMatchObject({
        outcome: "limited",
        reason,
      });
      expect((await world.listEvents("tool.started")).length).toBe(1);
      expect(provider.invocations.length).toBe(reason === "max_tool_calls" ? 2 : 1);
    }
  });
});

describe("A turn with a terminal tool", () => {
  const file = createTool({ name: "file" }, ({ ok }) => {
    if (ok !== true) throw new Error("Not complete");
    return "filed";
  });
  const terminalTool = { name: "file", maxReprompts: 2 };

  it("The agent is reprompted for the terminal tool, and a failed call does not count [RMA-P1-17]", async () => {
    const provider = createScriptedProvider([
      wants({ id: "c1", name: "file", input: { ok: false } }),
      says("Filed."),
      wants({ id: "c2", name: "file", input: { ok: true } }),
      says("Now it is."),
    ]);
    const world = await openWorld(createAgent({ provider, tools: [file], terminalTool }));
    await world.prompt("File it.");
    expect(await world.waitForEvent("turn.finished")).toMatchObject({
      outcome: "completed",
      steps: 4,
    });
    expect(provider.invocations[2]?.input).toEqual({
      type: "prompt",
      texts: ["You have not called file yet. Call it now to finish."],
    });
    expect((await world.listEvents("invocation.started")).map(({ purpose }) => purpose)).toEqual([
      "prompt",
      "results",
      "reprompt",
      "results",
    ]);
  });

  it("A turn without its terminal tool ends as limited", async () => {
    const provider = createScriptedProvider([says("No.")]);
    const world = await openWorld(createAgent({ provider, tools: [file], terminalTool }));
    await world.prompt("File it.");
    expect(await world.waitForEvent("turn.finished")).toMatchObject({
      outcome: "limited",
      reason: "no_terminal_tool",
      steps: 3,
    });
  });
});

describe("Events of a provider's stream", () => {
  it("Events received before a broken stream are logged", async () => {
    const broken: ProviderScript = async function* () {
      yield { type: "message.start", message: 0, role: "assistant" };
      for (const text of ["Half ", "of ", "it"]) {
        yield { type: "text.delta", message: 0, block: 0, text };
      }
      throw new Error("gone");
    };
    const world = await openWorld(createAgent({ provider: createScriptedProvider([broken]) }));
    await world.prompt("Go.");
    await world.waitForEvent("invocation.lost");
    expect(await world.listEvents("text.finished")).toMatchObject([
      { text: "Half of it", interrupted: true },
    ]);
  });

  it("Events are logged in batches if the log is slower than the stream", async () => {
    const blocks = 2000;
    const long: ProviderScript = async function* () {
      const textEvents = Array.from({ length: blocks }, (_, block) => [
        { type: "text.delta", message: 0, block, text: "x" } as const,
        { type: "text.end", message: 0, block, text: "x" } as const,
      ]);
      yield* generateMessage(textEvents.flat(), "end_turn");
      yield createTurnEnd({ outcome: "completed" });
    };
    const world = await openWorld(createAgent({ provider: createScriptedProvider([long]) }));
    const appendNow = world.store.append.bind(world.store);
    const append = vi.spyOn(world.store, "append").mockImplementation(async (...entry) => {
      await new Promise((resolve) => setImmediate(resolve));
      return appendNow(...entry);
    });
    await world.prompt("Go.");
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("text.finished")).toHaveLength(blocks);
    // A batch holds 256 events.
    expect(append.mock.calls.length).toBeLessThan(blocks / 20);
  });
});
