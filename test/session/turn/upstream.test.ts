import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createToolError, createToolSuccess } from "../../../src/domain/tools/tool-call.ts";
import { emulate, TEST_CREDENTIALS, type EmulateOptions } from "../../../src/emulator/index.ts";
import { harnessProvider } from "../../../src/providers/agentcore/harness-provider.ts";
import { createMemoryStore } from "../../../src/store/memory/memory-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { createFakeClock, advanceUntil } from "../../support/fake-clock.ts";
import {
  breaks,
  hangs,
  refuses,
  says,
  createScriptedProvider,
  wants,
  type ProviderScript,
} from "../../support/session/scripted-provider.ts";
import {
  createAgent,
  readUntil,
  createTool,
  openWorld,
  type AgentParts,
} from "../../support/session/session-world.ts";

const work = createTool({ name: "work" }, () => "done");

const user = (text: string) => ({ role: "user", blocks: [{ type: "text", text }] });
const assistant = (text: string) => ({ role: "assistant", blocks: [{ type: "text", text }] });

describe("An upstream session that was cut", () => {
  it("The upstream session is stopped before the next invocation", async () => {
    const provider = createScriptedProvider([hangs(), says("Yes.")]);
    const world = await openWorld(createAgent({ provider, settle: "stop" }));
    await world.prompt("One");
    await world.waitForEvent("text.delta");
    await world.cancel();
    await world.prompt("Two");
    await world.waitForEvent("turn.finished", 2);
    const [first, second] = provider.invocations;
    expect(provider.stoppedSessions).toEqual([first?.sessionId]);
    expect(second).toMatchObject({ sessionId: first?.sessionId, history: [] });
    expect(await world.listEvents("upstream.settled")).toMatchObject([{ policy: "stop" }]);
  });

  it("The upstream session is given time if it is waited for, or cannot be stopped", async () => {
    for (const parts of [
      { settle: "wait" },
      { settle: "stop", providerFacts: { canStop: false } },
    ] as const) {
      const clock = createFakeClock();
      const provider = createScriptedProvider([hangs(), says("Yes.")]);
      const world = await openWorld(createAgent({ provider, ...parts }), { clock });
      await world.prompt("One");
      await world.waitForEvent("text.delta");
      await world.cancel();
      await world.prompt("Two");
      const end = world.waitForEvent("turn.finished", 2);
      await advanceUntil(clock, end);
      expect(provider.stoppedSessions).toEqual([]);
      expect(await world.listEvents("upstream.settled")).toMatchObject([{ policy: "wait" }]);
    }
  });

  it("With the policy `reseed`, a new upstream session starts from the log", async () => {
    const provider = createScriptedProvider([says("Hello."), hangs("I thi"), says("Yes.")]);
    const world = await openWorld(createAgent({ provider, settle: "reseed" }));
    await world.prompt("One");
    await world.waitForEvent("turn.finished");
    await world.prompt("Two");
    await world.waitForEvent("text.delta", 2);
    await world.cancel();
    await world.prompt("Three");
    await world.waitForEvent("turn.finished", 3);
    const [first, , third] = provider.invocations;
    expect(third?.sessionId).not.toBe(first?.sessionId);
    expect(third).toMatchObject({
      history: [user("One"), assistant("Hello."), user("Two"), assistant("I thi")],
      input: { type: "prompt", texts: ["Three"] },
    });
    expect(await world.listEvents("upstream.opened")).toMatchObject([
      { seeded: false },
      { seeded: true },
    ]);
  });

  const afterCut = async (cut: ProviderScript, parts: Partial<AgentParts> = {}) => {
    const provider = createScriptedProvider([wants({ id: "c1", name: "work" }), cut, says("Yes.")]);
    const world = await openWorld(createAgent({ provider, tools: [work], ...parts }));
    await world.prompt("One");
    await world.waitForEvent("invocation.started", 2);
    return { provider, world };
  };
  const SAID = expect.stringMatching(
    /^Your last response was cut off.*The tool \w+ returned: done$/s,
  );

  it("After a cancel, the next prompts restate tool results until the agent responds", async () => {
    const provider = createScriptedProvider([
      wants({ id: "c1", name: "work" }),
      hangs(),
      hangs(),
      says("Yes."),
      says("Yes."),
    ]);
    const world = await openWorld(createAgent({ provider, tools: [work] }));
    await world.prompt("One");
    await world.waitForEvent("text.delta", 2);
    await world.cancel();
    await world.prompt("Two");
    await world.waitForEvent("text.delta", 3);
    await world.cancel();
    await world.prompt("Three");
    await world.waitForEvent("turn.finished", 3);
    await world.prompt("Four");
    await world.waitForEvent("turn.finished", 4);
    expect(provider.invocations.slice(2).map(({ input }) => input)).toEqual([
      { type: "prompt", texts: [SAID, "Two"] },
      { type: "prompt", texts: [SAID, "Three"] },
      { type: "prompt", texts: ["Four"] },
    ]);
    const origins = (await world.listEvents("message.sent")).map(({ origin }) => origin);
    expect(origins).toEqual(["prompt", "recovery", "prompt", "recovery", "prompt", "prompt"]);
  });

  it("After a cancel and a reseed, tool results are in the history and not restated", async () => {
    const { provider, world } = await afterCut(hangs(), { settle: "reseed" });
    await world.waitForEvent("text.delta", 2);
    await world.cancel();
    await world.prompt("Two");
    await world.waitForEvent("turn.finished", 2);
    const third = provider.invocations[2];
    expect(third?.input).toEqual({ type: "prompt", texts: ["Two"] });
    expect(third?.history).toContainEqual({
      role: "user",
      blocks: [{ type: "tool-result", result: createToolSuccess("c1", "done") }],
    });
  });

  it.each(["service_failed", "agent_failed", "unexpected_answer"] as const)(
    "A service that fails with %s fails the turn, is settled, and gets its results as text",
    async (code) => {
      const { provider, world } = await afterCut(refuses(code));
      expect(await world.waitForEvent("turn.finished")).toMatchObject({
        outcome: "failed",
        failure: { code },
      });
      await world.prompt("Two");
      await world.waitForEvent("turn.finished", 2);
      const [, second, third] = provider.invocations;
      expect(provider.stoppedSessions).toEqual([second?.sessionId]);
      expect(third).toMatchObject({ sessionId: second?.sessionId });
      expect(third?.input).toEqual({ type: "prompt", texts: [SAID, "Two"] });
    },
  );

  it.each(["throttled", "access_denied", "no_credentials", "connect_failed"] as const)(
    "A service that rejects with %s gets its results with the next prompt",
    async (code) => {
      const { provider, world } = await afterCut(refuses(code));
      await world.waitForEvent("turn.finished");
      await world.prompt("Two");
      await world.waitForEvent("turn.finished", 2);
      expect(provider.stoppedSessions).toEqual([]);
      expect(provider.invocations[2]?.input).toMatchObject({ type: "results", texts: ["Two"] });
    },
  );

  it("Results are restated after a lost invocation which an approver stopped", async () => {
    const { provider, world } = await afterCut(breaks());
    await world.decideApproval((await world.waitForEvent("approval.requested")).approvalId, "stop");
    await world.prompt("Two");
    await world.waitForEvent("turn.finished", 2);
    expect(provider.invocations[2]?.input).toEqual({ type: "prompt", texts: [SAID, "Two"] });
  });

  it("A stop that hangs delays the next prompt only until its timeout", async () => {
    const clock = createFakeClock();
    const provider = createScriptedProvider([hangs(), says("Yes.")], {
      onStop: () => new Promise(() => undefined),
    });
    const world = await openWorld(createAgent({ provider, settle: "stop" }), { clock });
    await world.prompt("One");
    await world.waitForEvent("text.delta");
    await world.cancel();
    await world.prompt("Two");
    const end = world.waitForEvent("turn.finished", 2);
    await advanceUntil(clock, end);
    expect(await end).toMatchObject({ outcome: "completed" });
    expect(await world.listEvents("upstream.settled")).toMatchObject([{ policy: "stop" }]);
  });

  it("The upstream session is stopped at once, without another prompt [ACP-111]", async () => {
    const provider = createScriptedProvider([hangs(), says("Yes.")]);
    const world = await openWorld(createAgent({ provider, settle: "stop" }));
    await world.prompt("One");
    await world.waitForEvent("text.delta");
    await world.cancel();
    expect(await world.waitForEvent("upstream.settled")).toMatchObject({ policy: "stop" });
    expect(provider.stoppedSessions).toEqual([provider.invocations[0]?.sessionId]);
    await world.prompt("Two");
    await world.waitForEvent("turn.finished", 2);
    expect(provider.stoppedSessions).toHaveLength(1);
  });

  it("Stopping continues when the waiting turn is cancelled, and is not reported as settled before", async () => {
    let stopped = (): void => undefined;
    const stopping = new Promise<void>((resolve) => {
      stopped = resolve;
    });
    const provider = createScriptedProvider([hangs(), says("Yes.")], { onStop: () => stopping });
    const world = await openWorld(createAgent({ provider }));
    await world.prompt("One");
    await world.waitForEvent("text.delta");
    await world.cancel();
    await world.prompt("Two");
    await world.cancel();
    expect(await world.listEvents("upstream.settled")).toEqual([]);
    await world.prompt("Three");
    stopped();
    await world.waitForEvent("turn.finished", 3);
    expect(provider.stoppedSessions).toHaveLength(1);
    expect(provider.invocations.map(({ input }) => input.texts)).toEqual([["One"], ["Three"]]);
  });

  it("A busy upstream session is retried with backoff, and finally the turn fails", async () => {
    const clock = createFakeClock();
    const provider = createScriptedProvider([refuses("conflict")]);
    const world = await openWorld(createAgent({ provider, settle: "wait" }), { clock });
    await world.prompt("One");
    const end = world.waitForEvent("turn.finished");
    await advanceUntil(clock, end);
    expect(await end).toMatchObject({ outcome: "failed", failure: { code: "conflict" } });
    const times = await callTimes(world);
    const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    for (const { input } of provider.invocations) expect(input.texts).toEqual(["One"]);
  });

  it("Results are sent again when the upstream session is no longer busy", async () => {
    const clock = createFakeClock();
    const provider = createScriptedProvider([
      wants({ id: "c1", name: "work" }),
      refuses("conflict"),
      says("Yes."),
    ]);
    const world = await openWorld(createAgent({ provider, tools: [work], settle: "wait" }), {
      clock,
    });
    await world.prompt("One");
    const end = world.waitForEvent("turn.finished");
    await advanceUntil(clock, end);
    expect(provider.invocations[2]).toEqual(provider.invocations[1]);
    const purposes = (await world.listEvents("invocation.started")).map(({ purpose }) => purpose);
    expect(purposes).toEqual(["prompt", "results", "results"]);
  });
});

describe("An upstream session", () => {
  it("Its id and the id of each invocation are logged before the agent is invoked [RMA-P1-27]", async () => {
    const store = createMemoryStore();
    const synced: string[] = [];
    const watched: Store = {
      ...store,
      async append(lease, expectedSeq, entry) {
        const appended = await store.append(lease, expectedSeq, entry);
        if (entry.sync) synced.push(...entry.events.map(({ event }) => event.type));
        return appended;
      },
    };
    const seen: unknown[] = [];
    const answer: ProviderScript = async function* (signal, call) {
      seen.push([call.sessionId, synced.slice(-2)]);
      yield* says("Yes.")(signal, call);
    };
    const provider = createScriptedProvider([answer]);
    const world = await openWorld(createAgent({ provider }), { store: watched });
    await world.prompt("One");
    await world.waitForEvent("turn.finished");
    const { upstreamId } = await world.waitForEvent("upstream.opened");
    expect(seen).toEqual([[upstreamId, ["upstream.opened", "invocation.started"]]]);
  });
});

describe("An upstream session that has expired", () => {
  const IDLE = { idleMs: 900_000, lifetimeMs: 28_800_000 };

  it("A new upstream session starts from the log after the idle time or the lifetime", async () => {
    const clock = createFakeClock();
    const provider = createScriptedProvider([says("One."), says("Two."), says("Three.")]);
    const world = await openWorld(createAgent({ provider, providerFacts: IDLE }), { clock });
    await world.prompt("1");
    await world.waitForEvent("turn.finished");
    clock.advance(899_000);
    await world.prompt("2");
    await world.waitForEvent("turn.finished", 2);
    clock.advance(900_000);
    await world.prompt("3");
    await world.waitForEvent("turn.finished", 3);
    const [first, second, third] = provider.invocations;
    expect(second?.sessionId).toBe(first?.sessionId);
    expect(third?.sessionId).not.toBe(first?.sessionId);
    expect(third?.history).toEqual([user("1"), assistant("One."), user("2"), assistant("Two.")]);

    for (let turn = 4; turn < 40; turn++) {
      clock.advance(880_000);
      await world.prompt(String(turn));
      await world.waitForEvent("turn.finished", turn);
    }
    const ids = provider.invocations.slice(2).map(({ sessionId }) => sessionId);
    expect(new Set(ids).size).toBe(2);
    expect(ids.lastIndexOf(ids[0] ?? "") * 880_000).toBeLessThan(28_800_000);
  });

  it("Results are sent with their calls if an approval took longer than the upstream session lives", async () => {
    const clock = createFakeClock();
    const provider = createScriptedProvider([wants({ id: "c1", name: "work" }), says("Yes.")]);
    const approvals = { deny: [], ask: ["*"], allow: [], default: "ask" } as const;
    const world = await openWorld(
      createAgent({
        provider,
        tools: [work],
        approvals,
        approvalMs: 3_600_000,
        caps: { seconds: 86_400 },
        providerFacts: IDLE,
      }),
      { clock },
    );
    await world.prompt("One");
    const { approvalId } = await world.waitForEvent("approval.requested");
    clock.advance(1_000_000);
    await world.decideApproval(approvalId, "allow");
    await world.waitForEvent("turn.finished");
    const [first, second] = provider.invocations;
    expect(second?.sessionId).not.toBe(first?.sessionId);
    expect(second).toMatchObject({
      history: [user("One")],
      input: { type: "results", results: [createToolSuccess("c1", "done")] },
    });
  });

  it("The history is sent until the agent has responded once", async () => {
    const clock = createFakeClock();
    const provider = createScriptedProvider([
      says("One."),
      refuses("throttled"),
      breaks(),
      says("Four."),
      says("Five."),
    ]);
    const parts = { provider, providerFacts: IDLE, onLost: "continue" } as const;
    const world = await openWorld(createAgent(parts), { clock });
    await world.prompt("1");
    await world.waitForEvent("turn.finished");
    clock.advance(900_000);
    for (const [index, text] of ["2", "3", "4"].entries()) {
      await world.prompt(text);
      await world.waitForEvent("turn.finished", index + 2);
    }
    const histories = provider.invocations.map(({ history }) => history.length);
    // The lost invocation had begun its response, so the agent has the history.
    expect(histories).toEqual([0, 2, 3, 0, 0]);
  });

  it("A provider which does not accept text with results gets a new upstream session", async () => {
    const provider = createScriptedProvider([wants({ id: "c1", name: "wait" }), says("Yes.")], {
      injectionPoints: ["turn-start"],
    });
    const wait = createTool({ name: "wait" }, (_, context) => {
      context.progress("waiting");
      return new Promise(() => undefined);
    });
    const world = await openWorld(createAgent({ provider, tools: [wait] }));
    await world.prompt("One");
    await world.waitForEvent("tool.progress");
    await world.cancel();
    await world.prompt("Two");
    await world.waitForEvent("turn.finished", 2);
    const [, second] = provider.invocations;
    const unknown = "Its effects so far are unknown.";
    const result = createToolError("c1", `wait was stopped: the turn was cancelled. ${unknown}`);
    expect(second?.input).toEqual({ type: "prompt", texts: ["Two"] });
    expect(second?.history).toMatchObject([
      user("One"),
      { role: "assistant", blocks: [{ type: "text" }, { type: "tool-call" }] },
      { role: "user", blocks: [{ type: "tool-result", result }] },
    ]);
  });
});

describe("A session on the emulator", () => {
  const SLOW = `
turns:
  - when: first
    answer: [One moment., { pause: 60000 }, Late.]
  - when: work
    answer: [{ call: work, input: {} }]
  - when: { result: work }
    answer: Worked.
  - when: name
    answer: You said it.
  - answer: Here I am.
  - answer: Still here.
  - answer: Always here.
`;

  const onEmulator = async (options: EmulateOptions, script = SLOW) => {
    const folder = mkdtempSync(join(tmpdir(), "spanline-session-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, "agent.yaml"), script);
    const emulator = await emulate({ brain: `script:${join(folder, "agent.yaml")}`, ...options });
    onTestFinished(() => emulator.close());
    const { demoArn: harnessArn, url: endpoint } = emulator;
    const provider = harnessProvider({ harnessArn, endpoint, credentials: TEST_CREDENTIALS });
    return { emulator, provider };
  };
  const textsOf = async (world: Awaited<ReturnType<typeof openWorld>>) =>
    (await world.listEvents("text.finished")).map(({ text }) => text);

  it("A prompt after a cancel succeeds with each settle policy while the agent still works", async () => {
    const { provider } = await onEmulator({ switches: { overlapping: "409" } });
    for (const settle of ["stop", "reseed"] as const) {
      const world = await openWorld(createAgent({ provider, settle }));
      await world.prompt("The first");
      await world.waitForEvent("text.delta");
      await world.cancel();
      await world.prompt("And now?");
      expect(await world.waitForEvent("turn.finished", 2)).toMatchObject({ outcome: "completed" });
    }
  });

  it("A session waits for an agent that reports a conflict while working", async () => {
    const clock = createFakeClock();
    const { emulator, provider } = await onEmulator({ switches: { overlapping: "409" } });
    const world = await openWorld(createAgent({ provider, settle: "wait" }), { clock });
    await world.prompt("The first");
    await world.waitForEvent("text.delta");
    await world.cancel();
    await world.prompt("And now?");
    const conflict = readUntil(
      world.sessions,
      world.sessionId,
      ({ event }) => event.type === "invocation.finished" && event.outcome === "refused",
    );
    await advanceUntil(clock, conflict);
    await emulator.advance(60_000);
    const end = world.waitForEvent("turn.finished", 2);
    await advanceUntil(clock, end);
    expect(await end).toMatchObject({ outcome: "completed" });
    expect((await textsOf(world)).at(-1)).toBe("Here I am.");
  });

  it("A new upstream session starts from the log with calls and results, which the agent accepts", async () => {
    const { provider } = await onEmulator({});
    const clock = createFakeClock();
    const providerFacts = { idleMs: 900_000 };
    const world = await openWorld(createAgent({ provider, tools: [work], providerFacts }), {
      clock,
    });
    await world.prompt("Please work.");
    await world.waitForEvent("turn.finished");
    clock.advance(900_000);
    await world.prompt("Recall my name.");
    expect(await world.waitForEvent("turn.finished", 2)).toMatchObject({ outcome: "completed" });
    expect(await textsOf(world)).toEqual(["Worked.", "You said it."]);
    expect(await world.listEvents("upstream.opened")).toMatchObject([{}, { seeded: true }]);
  });

  it("Results of cancelled calls are sent with the next prompt, which the agent accepts [RMA-P1-9]", async () => {
    const { provider } = await onEmulator({});
    const wait = createTool({ name: "work" }, (_, context) => {
      context.progress("waiting");
      return new Promise(() => undefined);
    });
    const world = await openWorld(createAgent({ provider, tools: [wait] }));
    await world.prompt("Please work.");
    await world.waitForEvent("tool.progress");
    await world.cancel();
    await world.prompt("Recall my name.");
    expect(await world.waitForEvent("turn.finished", 2)).toMatchObject({ outcome: "completed" });
    expect(await world.listEvents("upstream.opened")).toHaveLength(1);
  });
});

async function callTimes(world: Awaited<ReturnType<typeof openWorld>>): Promise<number[]> {
  const started = (await world.readLog()).filter(
    ({ event }) => event.type === "invocation.started",
  );
  return started.map(({ at }) => at);
}
