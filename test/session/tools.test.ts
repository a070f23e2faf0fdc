import { describe, expect, it } from "vitest";
import {
  createToolCall,
  createToolError,
  createToolSuccess,
} from "../../src/domain/tools/tool-call.ts";
import { MAX_OUTPUT_CHARACTERS } from "../../src/session/runtime/effects/store-output.ts";
import type { InvocationInput } from "../../src/providers/provider.ts";
import { createMemoryStore } from "../../src/store/memory/memory-store.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import {
  breaks,
  hangs,
  says,
  createScriptedProvider,
  wants,
} from "../support/session/scripted-provider.ts";
import { createAgent, createTool, openWorld } from "../support/session/session-world.ts";

const never = (): Promise<never> => new Promise(() => undefined);

/** The results sent with an invocation. */
function resultsIn(input: InvocationInput | undefined) {
  return input?.type === "results" ? input.results : [];
}

describe("Tools of a session", () => {
  it("A tool's return value is sent to the agent under the agent's id of the call", async () => {
    const provider = createScriptedProvider([wants({ id: "c1", name: "add" }), says("Three.")]);
    const add = createTool({ name: "add" }, () => ({ sum: 3 }));
    const world = await openWorld(createAgent({ provider, tools: [add] }));
    await world.prompt("Add.");
    await world.waitForEvent("turn.finished");
    expect(resultsIn(provider.invocations[1]?.input)).toEqual([
      createToolSuccess("c1", { sum: 3 }),
    ]);
  });

  it("A tool that throws sends the agent its message only, and reports the cause [AC-48] [RMA-P1-19]", async () => {
    const provider = createScriptedProvider([wants({ id: "c1", name: "read" }), says("Oh.")]);
    const cause = new Error("No such file", { cause: new Error("ENOENT /home/me/.secrets") });
    const read = createTool({ name: "read" }, () => {
      throw cause;
    });
    const world = await openWorld(createAgent({ provider, tools: [read] }));
    await world.prompt("Read.");
    await world.waitForEvent("turn.finished");
    const result = createToolError("c1", "read failed: No such file");
    expect(resultsIn(provider.invocations[1]?.input)).toEqual([result]);
    expect(await world.waitForEvent("tool.finished")).toMatchObject({ ending: "failed", result });
    expect(world.reports).toEqual([new Error("The tool read failed", { cause })]);
  });

  const INVALID = [
    [
      "are cut off",
      `{"path":`,
      /^read was not run: its arguments could not be read \(.+\)\. Call it/,
    ],
    ["are a list", `["a"]`, /an array, expected an object/],
    ["are a string", `"a"`, /a string, expected an object/],
    ["are null", "null", /null, expected an object/],
  ] as const;

  /** Two calls in one step: the first has valid arguments. */
  async function calledWith(inputText: string, parts: object) {
    const ran: unknown[] = [];
    const read = createTool({ name: "read" }, (input) => void ran.push(input));
    const first = { id: "c1", name: "read", input: { path: "a" } };
    const answers = [wants(first, { id: "c2", name: "read", inputText }), says("Oh.")];
    const provider = createScriptedProvider(answers);
    const world = await openWorld(createAgent({ provider, tools: [read], ...parts }));
    await world.prompt("Read.");
    const end = await world.waitForEvent("turn.finished");
    return { ran, provider, world, end };
  }

  it.each(INVALID)(
    "A tool call whose arguments %s is not run, and the model gets the reason [RMA-P0-4]",
    async (_, inputText, text) => {
      const { ran, provider, world, end } = await calledWith(inputText, {});
      expect(ran).toEqual([{ path: "a" }]);
      expect(resultsIn(provider.invocations[1]?.input)).toMatchObject([
        { toolCallId: "c1", isError: false },
        { toolCallId: "c2", isError: true, parts: [{ text: expect.stringMatching(text) }] },
      ]);
      expect(end).toMatchObject({ outcome: "completed" });
      const [, called] = await world.listEvents("tool_call.received");
      expect(called?.toolCall).toMatchObject({ id: "c2", input: null, inputText });
    },
  );

  it.each(INVALID)(
    "With invalidToolInput: fail, a tool call whose arguments %s fails the turn, and no tool of its step runs [RMA-P0-4]",
    async (_, inputText) => {
      const invalidToolInput = "fail" as const;
      const { ran, provider, world, end } = await calledWith(inputText, { invalidToolInput });
      expect(ran).toEqual([]);
      expect(provider.invocations).toHaveLength(1);
      const [, called] = await world.listEvents("tool_call.received");
      expect(end).toMatchObject({
        outcome: "failed",
        failure: {
          code: "invalid_tool_input",
          message: expect.stringMatching(/^The agent called read with arguments that are not a/),
          details: { tool: "read", toolCallId: called?.toolCallId },
        },
      });
      expect(called?.toolCall).toMatchObject({ input: null, inputText });
      // The session stays usable.
      await world.prompt("Again.");
      expect(await world.waitForEvent("turn.finished", 2)).toMatchObject({ outcome: "completed" });
    },
  );

  it("A tool call run by the provider is never dispatched here, even if a tool here has its name [B-086]", async () => {
    const ran: unknown[] = [];
    const read = createTool({ name: "read" }, (input) => void ran.push(input));
    const call = createToolCall({ id: "s1", name: "read", inputText: "{}", runBy: "server" });
    const at = { message: 0, block: 0 };
    const provider = createScriptedProvider([
      async function* () {
        yield { type: "message.start", message: 0, role: "assistant" };
        yield { type: "tool.start", ...at, toolCallId: "s1", name: "read" };
        yield { type: "tool.end", ...at, toolCall: call };
        const result = createToolSuccess("s1", "from there");
        yield { type: "tool.result", message: 0, block: 1, result };
        yield { type: "message.end", message: 0, reason: "end_turn" };
        yield {
          type: "end",
          outcome: "completed",
          reason: "end_turn",
          openToolCallIds: [],
          usage: null,
        };
      },
    ]);
    const world = await openWorld(createAgent({ provider, tools: [read] }));
    await world.prompt("Read.");
    await world.waitForEvent("turn.finished");
    expect(ran).toEqual([]);
    expect(provider.invocations).toHaveLength(1);
    const types = (await world.readLog()).map(({ event }) => event.type);
    const ours = /^(?:tool\.(?:examined|started)|policy\.|approval\.)/;
    expect(types.filter((type) => ours.test(type))).toEqual([]);
    expect(await world.waitForEvent("tool.finished")).toMatchObject({
      result: { toolCallId: "s1", parts: [{ text: "from there" }] },
    });
  });

  it("A tool that exceeds its timeout is stopped, and the agent gets an error [AC-48] [RMA-P0-6]", async () => {
    const clock = createFakeClock();
    const provider = createScriptedProvider([wants({ id: "c1", name: "wait" }), says("Oh.")]);
    let signal: AbortSignal | undefined;
    const wait = createTool({ name: "wait", timeoutMs: 5000 }, (_, context) => {
      ({ signal } = context);
      context.progress("waiting");
      return never();
    });
    const world = await openWorld(createAgent({ provider, tools: [wait] }), { clock });
    await world.prompt("Wait.");
    await world.waitForEvent("tool.progress");
    clock.advance(5000);
    await world.waitForEvent("turn.finished");
    const text = "wait was stopped after 5 seconds. Its effects so far are unknown.";
    expect(resultsIn(provider.invocations[1]?.input)).toEqual([createToolError("c1", text)]);
    expect(await world.waitForEvent("tool.finished")).toMatchObject({
      ending: "timed-out",
      durationMs: 5000,
    });
    expect(signal?.aborted).toBe(true);
  });

  it("Progress with numbers is logged with its numbers [B-035]", async () => {
    const clock = createFakeClock();
    const provider = createScriptedProvider([wants({ id: "c1", name: "copy" }), says("Done.")]);
    const copy = createTool({ name: "copy" }, (_, context) => {
      context.progress("first", { progress: 1, total: 3 });
      context.progress("second", { progress: 2, total: 3 });
      context.progress("third");
      return "copied";
    });
    const world = await openWorld(createAgent({ provider, tools: [copy] }), { clock });
    await world.prompt("Copy.");
    const { toolCallId } = await world.waitForEvent("tool.finished");
    const about = { type: "tool.progress", toolCallId };
    expect(await world.listEvents("tool.progress")).toEqual([
      { ...about, text: "first", amount: { progress: 1, total: 3 } },
      { ...about, text: "third" },
    ]);
  });

  it("A hanging tool does not delay a cancel [RMA-P0-6]", async () => {
    const provider = createScriptedProvider([wants({ id: "c1", name: "wait" }), says("Yes?")]);
    const wait = createTool({ name: "wait" }, (_, context) => {
      context.progress("waiting");
      return never();
    });
    const world = await openWorld(createAgent({ provider, tools: [wait] }));
    await world.prompt("Wait.");
    await world.waitForEvent("tool.progress");
    expect(await world.cancel()).toMatchObject({ status: "accepted" });
    expect((await world.readLog()).slice(-2).map(({ event }) => event)).toMatchObject([
      { type: "tool.finished", ending: "cancelled" },
      { type: "turn.finished", outcome: "cancelled" },
    ]);
    await world.prompt("Go on.");
    expect(await world.waitForEvent("turn.finished", 2)).toMatchObject({ outcome: "completed" });
  });

  it("Parallel tools stay within their limit, and results keep the order of the calls [AC-49]", async () => {
    const ids = ["c1", "c2", "c3", "c4", "c5"];
    const calls = ids.map((id) => ({ id, name: "work", input: { id } }));
    const provider = createScriptedProvider([wants(...calls), says("Done.")]);
    const endings = new Map<unknown, () => void>();
    let most = 0;
    const work = createTool({ name: "work" }, async ({ id }, context) => {
      const end = new Promise<void>((resolve) => endings.set(id, resolve));
      most = Math.max(most, endings.size);
      context.progress("at work");
      await end;
      return id;
    });
    const world = await openWorld(
      createAgent({ provider, tools: [work], caps: { parallelTools: 2 } }),
    );
    await world.prompt("Work.");
    // The newest ends first.
    for (let started = 1; started <= ids.length; started++) {
      await world.waitForEvent("tool.progress", started);
      if (endings.size < 2 && started < ids.length) continue;
      const [id, end] = [...endings].at(-1) ?? [];
      endings.delete(id);
      end?.();
    }
    for (const end of endings.values()) end();
    await world.waitForEvent("turn.finished");
    expect(most).toBe(2);
    expect(resultsIn(provider.invocations[1]?.input)).toEqual(
      ids.map((id) => createToolSuccess(id, id)),
    );
  });

  it("A tool does not run with unreadable or invalid arguments, or under an unknown name", async () => {
    const provider = createScriptedProvider([
      wants(
        { id: "c1", name: "add", inputText: `{"a":` },
        { id: "c2", name: "add", input: { a: "x" } },
        { id: "c3", name: "subtract" },
      ),
      says("Oh."),
    ]);
    const ran: unknown[] = [];
    const add = {
      ...createTool({ name: "add" }, (input) => ran.push(input)),
      check: () => "a is not a number.",
    };
    const world = await openWorld(createAgent({ provider, tools: [add] }));
    await world.prompt("Add.");
    await world.waitForEvent("turn.finished");
    expect(ran).toEqual([]);
    const [unreadable, ...others] = resultsIn(provider.invocations[1]?.input);
    expect(unreadable).toMatchObject({ toolCallId: "c1", isError: true });
    expect(others).toEqual([
      createToolError("c2", "add was not run: its arguments are wrong. a is not a number."),
      createToolError("c3", "subtract is not an available tool. Available tools: add."),
    ]);
  });

  it("A tool runs with the approver's arguments, validated again", async () => {
    const call = { id: "c1", name: "send", input: { to: "all" } };
    const provider = createScriptedProvider([wants(call), says("Sent.")]);
    const ran: unknown[] = [];
    const send = createTool({ name: "send" }, (input) => ran.push(input));
    const approvals = { deny: [], ask: ["send"], allow: [], default: "deny" } as const;
    const world = await openWorld(createAgent({ provider, tools: [send], approvals }));
    await world.prompt("Send.");
    const { approvalId } = await world.waitForEvent("approval.requested");
    await world.send({
      type: "decide-approval",
      approvalId,
      decision: "allow",
      input: { to: "me" },
    });
    await world.waitForEvent("turn.finished");
    expect(ran).toEqual([{ to: "me" }]);
    expect(await world.waitForEvent("tool.started")).toMatchObject({ approvalId, attempt: 1 });
  });

  it("A denied tool call, or one whose approval expired, does not run, and the agent gets the reason", async () => {
    const clock = createFakeClock();
    const calls = ["rm_all", "send", "publish"].map((name) => ({ id: name, name }));
    const provider = createScriptedProvider([wants(...calls), says("Oh.")]);
    const ran: unknown[] = [];
    const tools = calls.map(({ name }) => createTool({ name }, () => ran.push(name)));
    const approvals = { deny: ["rm_*"], ask: [], allow: [], default: "ask" } as const;
    const world = await openWorld(createAgent({ provider, tools, approvals, approvalMs: 1000 }), {
      clock,
    });
    await world.prompt("Go.");
    await world.waitForEvent("approval.requested", 2);
    const { approvalId } = await world.waitForEvent("approval.requested");
    await world.send({
      type: "decide-approval",
      approvalId,
      decision: "deny",
      reason: "Not today.",
    });
    clock.advance(1000);
    await world.waitForEvent("turn.finished");
    expect(ran).toEqual([]);
    const { decision } = await world.waitForEvent("policy.decided");
    const why = `the rules of this session do not allow it. ${decision.reason}`;
    expect(resultsIn(provider.invocations[1]?.input)).toEqual([
      createToolError("rm_all", `rm_all was not run: ${why}`),
      createToolError("send", "send was not run: it was denied. The reason given: Not today."),
      createToolError("publish", "publish was not run: its approval request expired."),
    ]);
  });

  it("An approval still expires on time if the system clock is set back", async () => {
    const clock = createFakeClock();
    const provider = createScriptedProvider([wants({ id: "c1", name: "send" }), says("Oh.")]);
    const approvals = { deny: [], ask: ["send"], allow: [], default: "deny" } as const;
    const send = createTool({ name: "send" }, () => "sent");
    const agent = createAgent({ provider, tools: [send], approvals, approvalMs: 1000 });
    const world = await openWorld(agent, { clock });
    await world.prompt("Send.");
    await world.waitForEvent("approval.requested");
    clock.jump(-500);
    clock.advance(1000);
    await world.send({ type: "set-title", title: "Still here" });
    expect(await world.listEvents("approval.resolved")).toEqual([]);
    clock.advance(500);
    expect(await world.waitForEvent("approval.resolved")).toMatchObject({ resolvedBy: "deadline" });
    await world.waitForEvent("turn.finished");
    await world.sessions.close();
    expect(clock.pending).toBe(0);
  });

  it("The agent gets the beginning of a long output, and the whole is stored", async () => {
    const provider = createScriptedProvider([wants({ id: "c1", name: "read" }), says("Long.")]);
    // A surrogate pair lies across the limit.
    const whole = `${"a".repeat(MAX_OUTPUT_CHARACTERS - 1)}😀 and more`;
    const world = await openWorld(
      createAgent({ provider, tools: [createTool({ name: "read" }, () => whole)] }),
    );
    await world.prompt("Read.");
    const { blobId = "", result } = await world.waitForEvent("tool.finished");
    const beginning = "a".repeat(MAX_OUTPUT_CHARACTERS - 1);
    const text = `${beginning}\n[11 more characters were left out]`;
    expect(result.parts).toEqual([{ type: "text", text }]);
    const storedBytes = await world.store.readBlob(world.sessionId, blobId);
    expect(new TextDecoder().decode(storedBytes)).toBe(whole);
  });

  it("A tool succeeds even if its output cannot be stored", async () => {
    const provider = createScriptedProvider([wants({ id: "c1", name: "send" }), says("Sent.")]);
    const send = createTool({ name: "send" }, () => "a".repeat(MAX_OUTPUT_CHARACTERS + 1));
    const cause = new Error("The disk is full");
    const store = { ...createMemoryStore(), putBlob: () => Promise.reject(cause) };
    const world = await openWorld(createAgent({ provider, tools: [send] }), { store });
    await world.prompt("Send.");
    const { ending, result, blobId } = await world.waitForEvent("tool.finished");
    const omissionNote = "[1 more characters were left out, and could not be kept]";
    const text = `${"a".repeat(MAX_OUTPUT_CHARACTERS)}\n${omissionNote}`;
    expect({ ending, result, blobId }).toEqual({
      ending: "succeeded",
      result: createToolSuccess("c1", text),
      blobId: undefined,
    });
    expect(world.reports).toMatchObject([{ cause }]);
  });

  it("Frequent progress is throttled to the first and the latest report", async () => {
    const clock = createFakeClock();
    const provider = createScriptedProvider([wants({ id: "c1", name: "count" }), says("Done.")]);
    const count = createTool({ name: "count" }, async (_, context) => {
      for (let step = 1; step <= 20_000; step++) {
        context.progress(`${step}`);
        if (step % 10_000 === 0) clock.advance(250);
      }
      context.progress("x".repeat(10_000));
      context.progress("y".repeat(10_000));
    });
    const world = await openWorld(createAgent({ provider, tools: [count] }), { clock });
    await world.prompt("Count.");
    await world.waitForEvent("turn.finished");
    const texts = (await world.listEvents("tool.progress")).map(({ text }) => text);
    expect(texts).toEqual(["1", "10000", "20000", `${"y".repeat(2000)}…`]);
  });

  it("A shortened report or error of a tool splits no surrogate pair", async () => {
    const provider = createScriptedProvider([wants({ id: "c1", name: "count" }), says("Done.")]);
    const count = createTool({ name: "count" }, async (_, context) => {
      context.progress(`${"x".repeat(1999)}😀`);
      throw new Error(`${"y".repeat(3999)}😀`);
    });
    const world = await openWorld(createAgent({ provider, tools: [count] }));
    await world.prompt("Count.");
    const { result } = await world.waitForEvent("tool.finished");
    const [progress] = await world.listEvents("tool.progress");
    expect(progress?.text).toBe(`${"x".repeat(1999)}…`);
    const text = `count failed: ${"y".repeat(3999)}…`;
    expect(result.parts).toMatchObject([{ type: "text", text }]);
  });

  it("A host request without a JSON form fails only its tool, and the session continues", async () => {
    const payload = Object({ count: 1n });
    const ask = createTool({ name: "ask" }, (_, context) =>
      context.host("editor", "read", payload),
    );
    const provider = createScriptedProvider([wants({ id: "c1", name: "ask" }), says("I see.")]);
    const world = await openWorld(createAgent({ provider, tools: [ask] }));
    await world.prompt("Ask.");
    expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
    expect(await world.listEvents("tool.finished")).toMatchObject([{ ending: "failed" }]);
  });

  it("Results of a lost invocation are sent to a new upstream session", async () => {
    const provider = createScriptedProvider([
      wants({ id: "c1", name: "work" }, { id: "c2", name: "work" }),
      breaks(),
      says("Both."),
    ]);
    const work = createTool({ name: "work" }, () => "done");
    const world = await openWorld(createAgent({ provider, tools: [work], onLost: "reseed" }));
    await world.prompt("Work.");
    await world.waitForEvent("turn.finished");
    const [first, second, third] = provider.invocations;
    expect(resultsIn(second?.input)).toEqual([
      createToolSuccess("c1", "done"),
      createToolSuccess("c2", "done"),
    ]);
    expect(third?.input).toEqual(second?.input);
    expect(third?.sessionId).not.toBe(first?.sessionId);
    // Its calls are sent along with their results, so the history ends before them.
    expect(third?.history).toEqual([{ role: "user", blocks: [{ type: "text", text: "Work." }] }]);
  });
});

describe("Host requests of tools", () => {
  const asking = () => {
    const provider = createScriptedProvider([
      wants({ id: "c1", name: "look" }),
      says("I see."),
      hangs(),
    ]);
    const look = createTool({ name: "look", timeoutMs: 3_600_000 }, (_, context) =>
      context.host("editor", "read", { path: "a.txt" }),
    );
    return { provider, agent: createAgent({ provider, tools: [look] }) };
  };
  const attach = { type: "attach", clientId: "editor", mode: "observer", name: "Editor" } as const;

  it("A host request is logged, and only its client can reply", async () => {
    const { provider, agent } = asking();
    const world = await openWorld(agent);
    await world.send(attach);
    await world.prompt("Look.");
    const hostRequest = await world.waitForEvent("host.requested");
    const { requestId } = hostRequest;
    expect(hostRequest).toMatchObject({
      clientId: "editor",
      kind: "read",
      payload: { path: "a.txt" },
    });
    const payload = { text: "hello" };
    const answer = { type: "submit-host-reply", requestId, outcome: "replied", payload } as const;
    expect(await world.send(answer, { clientId: "other" })).toMatchObject({
      status: "refused",
      failure: { code: "access_denied" },
    });
    expect(await world.send(answer, { clientId: "editor" })).toEqual({ status: "accepted" });
    await world.waitForEvent("turn.finished");
    expect(resultsIn(provider.invocations[1]?.input)).toEqual([createToolSuccess("c1", payload)]);
    expect(await world.send(answer, { clientId: "editor" })).toMatchObject({ status: "refused" });
  });

  it.each([
    ["is not attached", "The client is gone"],
    ["leaves", "The client is gone"],
    ["cannot do it", "The client failed to handle the request"],
    ["does not answer in time", "The client did not answer in time"],
  ])("A host request fails when the client %s", async (how, message) => {
    const clock = createFakeClock();
    const { provider, agent } = asking();
    const world = await openWorld(agent, { clock });
    if (how !== "is not attached") await world.send(attach);
    await world.prompt("Look.");
    const { requestId } = await world.waitForEvent("host.requested");
    if (how === "leaves") {
      await world.send({ type: "detach", clientId: "editor", reason: "closed" });
    } else if (how === "cannot do it") {
      const answer = { type: "submit-host-reply", requestId, outcome: "failed" } as const;
      await world.send(answer, { clientId: "editor" });
    } else if (how === "does not answer in time") clock.advance(300_000);
    await world.waitForEvent("turn.finished");
    expect(resultsIn(provider.invocations[1]?.input)).toEqual([
      createToolError("c1", `look failed: ${message}`),
    ]);
  });

  it("A cancel closes a host request", async () => {
    const world = await openWorld(asking().agent);
    await world.send(attach);
    await world.prompt("Look.");
    const { requestId } = await world.waitForEvent("host.requested");
    await world.cancel();
    expect(await world.listEvents("host.replied")).toEqual([
      { type: "host.replied", requestId, outcome: "gone" },
    ]);
  });
});
