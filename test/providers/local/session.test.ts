import { describe, expect, it } from "vitest";
import {
  respondsAfter,
  responds,
  cuts,
  DIALECTS,
  fails,
  garbles,
  hangs,
  refuses,
  says,
  wants,
} from "../../support/server/model-server.ts";
import { createTool } from "../../support/session/session-world.ts";
import { linesOf, localWorld } from "./local-world.ts";
import { waitUntil } from "../../support/with-deadline.ts";

describe.each(DIALECTS)("A session over a model with the dialect %s", (dialect) => {
  it("Tools run, and each model request contains the whole conversation", async () => {
    const inputs: unknown[] = [];
    const look = createTool({ name: "look" }, (input) => {
      inputs.push(input);
      return { pairs: 2 };
    });
    const { world, server } = await localWorld(
      dialect,
      [
        wants({ id: "c1", name: "look", input: { at: "shoes" } }),
        says("Two pairs."),
        says("Yes, two."),
      ],
      { tools: [look], local: { maxTokens: 50, temperature: 0.5 } },
    );
    await world.prompt("Which shoes?");
    expect(await world.waitForEvent("turn.finished")).toMatchObject({
      outcome: "completed",
      usage: { inputTokens: 20, outputTokens: 10 },
    });
    await world.prompt("Really?");
    await world.waitForEvent("turn.finished", 2);
    expect(inputs).toEqual([{ at: "shoes" }]);
    const expectedMessages = [
      "user: Which shoes?",
      "assistant: Let me see.",
      'call c1: look {"at":"shoes"}',
      'result c1: {"pairs":2}',
      "assistant: Two pairs.",
      "user: Really?",
    ];
    expect(server.modelRequests.map(linesOf)).toEqual([
      expectedMessages.slice(0, 1),
      expectedMessages.slice(0, 4),
      expectedMessages,
    ]);
    const [first] = server.modelRequests;
    expect(first).toMatchObject({ model: "small", max_tokens: 50, temperature: 0.5, stream: true });
    expect(JSON.stringify(first)).toContain("Be brief.");
    expect(first?.tools).toHaveLength(1);
    expect((await world.listEvents("text.finished")).map(({ text }) => text)).toEqual([
      "Let me see.",
      "Two pairs.",
      "Yes, two.",
    ]);
  });

  it("Unreadable tool arguments are reported to the model, and nothing runs", async () => {
    const look = createTool({ name: "look" }, () => {
      throw new Error("It ran");
    });
    const { world, server } = await localWorld(
      dialect,
      [wants({ id: "c1", name: "look", inputText: '{"at":' }), says("I see.")],
      { tools: [look] },
    );
    await world.prompt("Look");
    await world.waitForEvent("turn.finished");
    expect(await world.listEvents("tool.started")).toEqual([]);
    expect(linesOf(server.modelRequests[1] ?? { messages: [] })).toEqual([
      "user: Look",
      "assistant: Let me see.",
      'call c1: look {"unreadable":"{\\"at\\":"}',
      expect.stringMatching(/^result c1: look was not run: its arguments could not be read/),
    ]);
  });

  it("Thinking is sent back only if it is signed", async () => {
    const { world, server } = await localWorld(dialect, [
      responds({
        thinking: "Hm.",
        text: "Well.",
        reason: dialect === "chat" ? "stop" : "end_turn",
      }),
      says("Yes."),
    ]);
    await world.prompt("One");
    await world.waitForEvent("turn.finished");
    await world.prompt("Two");
    await world.waitForEvent("turn.finished", 2);
    expect(await world.listEvents("thought.finished")).toMatchObject([{ text: "Hm." }]);
    expect(linesOf(server.modelRequests[1] ?? { messages: [] })).toEqual([
      "user: One",
      ...(dialect === "chat" ? [] : ["thinking: Hm."]),
      "assistant: Well.",
      "user: Two",
    ]);
  });

  it("A conversation continues after its tools were removed", async () => {
    const look = createTool({ name: "look" }, () => "seen");
    const { world, server, agent } = await localWorld(
      dialect,
      [wants({ id: "c1", name: "look" }), says("Seen."), says("Yes.")],
      { tools: [look] },
    );
    await world.prompt("One");
    await world.waitForEvent("turn.finished");
    const next = await world.restart(agent({ tools: [] }));
    await next.prompt("Two");
    await next.waitForEvent("turn.finished", 2);
    expect(JSON.stringify(server.modelRequests[2]?.tools)).toContain("No longer available");
  });

  describe("Busy or failing models", () => {
    const date = "Mon, 16 Nov 2026 00:00:00 GMT";

    it.each([
      ["429 and a delay in seconds", 429, { "retry-after": "7" }, 7000],
      ["429 and a date", 429, { date, "retry-after": "Mon, 16 Nov 2026 00:00:09 GMT" }, 9000],
      ["503 and a delay in seconds", 503, { "retry-after": "2" }, 2000],
      ["529 and a date", 529, { date, "retry-after": "Mon, 16 Nov 2026 00:00:01 GMT" }, 1000],
      ["429 without a delay", 429, {}, 375],
      ["408", 408, {}, 375],
      ["500", 500, {}, 375],
    ] as const)(
      "A request refused with %s is retried after that delay, and the log has an event [RMA-P1-22]",
      async (_, status, headers, wait) => {
        const { world, server, waits } = await localWorld(dialect, [
          refuses(status, headers),
          says("Yes."),
        ]);
        await world.prompt("One");
        expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
        expect(waits[0]).toBe(wait);
        expect(server.modelRequests).toHaveLength(2);
        expect(await world.listEvents("invocation.started")).toHaveLength(1);
        expect(await world.listEvents("provider.activity")).toMatchObject([
          { kind: "retry-wait", label: expect.stringContaining(`${status}`) },
        ]);
      },
    );

    it("A turn fails after all retries, and its prompt is sent with the next one [RMA-P1-22]", async () => {
      const busy = refuses(429, {}, "rate_limit_error");
      const { world, server } = await localWorld(dialect, [busy, busy, busy, says("Yes.")]);
      await world.prompt("One");
      expect(await world.waitForEvent("turn.finished")).toMatchObject({
        outcome: "failed",
        failure: { code: "throttled", details: { phase: "http", status: 429 } },
      });
      await world.prompt("Two");
      expect(await world.waitForEvent("turn.finished", 2)).toMatchObject({ outcome: "completed" });
      expect(server.modelRequests.map(linesOf).at(-1)).toEqual(["user: One", "user: Two"]);
    });

    it("A permanent failure is not retried [RMA-P1-22]", async () => {
      const { world, server } = await localWorld(dialect, [
        refuses(400, {}, "invalid_request_error"),
      ]);
      await world.prompt("One");
      expect(await world.waitForEvent("turn.finished")).toMatchObject({
        outcome: "failed",
        failure: { code: "validation_failed" },
      });
      expect(server.modelRequests).toHaveLength(1);
    });

    it("A failure within a response ends the turn with its partial text and is not retried [RMA-P1-22]", async () => {
      const { world, server } = await localWorld(dialect, [
        fails("So far", "overloaded_error"),
        says("Yes."),
      ]);
      await world.prompt("One");
      expect(await world.waitForEvent("turn.finished")).toMatchObject({
        outcome: "failed",
        failure: { code: "service_failed" },
      });
      expect(server.modelRequests).toHaveLength(1);
      await world.prompt("Two");
      await world.waitForEvent("turn.finished", 2);
      expect(server.modelRequests.map(linesOf).at(-1)).toEqual([
        "user: One",
        "assistant: So far",
        "user: Two",
      ]);
    });

    it("A response that cannot be parsed fails the turn", async () => {
      const { world } = await localWorld(dialect, [garbles("So far"), says("Yes.")]);
      await world.prompt("One");
      const { outcome, failure } = await world.waitForEvent("turn.finished");
      expect([outcome, failure?.code]).toEqual(["failed", "malformed_event"]);
      await world.prompt("Two");
      expect(await world.waitForEvent("turn.finished", 2)).toMatchObject({ outcome: "completed" });
    });
  });

  describe("Interrupted responses", () => {
    it("A response cut inside a tool call is requested again, and the tool runs once", async () => {
      let runs = 0;
      const look = createTool({ name: "look" }, () => (runs += 1));
      const call = { id: "c1", name: "look", input: { at: 1 } };
      const { world, server } = await localWorld(
        dialect,
        [cuts({ text: "Let me", calls: [call] }), wants(call), says("Yes.")],
        { tools: [look] },
      );
      await world.prompt("One");
      expect(await world.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
      expect(await world.listEvents("invocation.lost")).toHaveLength(1);
      expect(runs).toBe(1);
      expect(server.modelRequests.map(linesOf).slice(0, 2)).toEqual([["user: One"], ["user: One"]]);
      expect(linesOf(server.modelRequests[2] ?? { messages: [] })).not.toContain(
        "assistant: Let me",
      );
    });

    it("A turn interrupted by a kill continues in the next process from the log alone", async () => {
      const look = createTool({ name: "look" }, () => "seen");
      const { world, server, agent } = await localWorld(
        dialect,
        [wants({ id: "c1", name: "look" }), hangs("I thi"), says("Yes.")],
        { tools: [look] },
      );
      await world.prompt("One");
      await world.waitForEvent("message.started", 2);
      const next = await world.restart(agent());
      expect(await next.waitForEvent("turn.finished")).toMatchObject({ outcome: "completed" });
      expect(server.modelRequests).toHaveLength(3);
      expect(linesOf(server.modelRequests[2] ?? { messages: [] })).toEqual(
        linesOf(server.modelRequests[1] ?? { messages: [] }),
      );
    });

    it("A cancel before the first text closes the connection, and the next prompt is sent at once", async () => {
      let open = (): void => undefined;
      const never = new Promise<void>((resolve) => {
        open = resolve;
      });
      const { world, server } = await localWorld(dialect, [
        respondsAfter(never, says("Late.")),
        says("Yes."),
      ]);
      await world.prompt("One");
      await waitUntil(() => server.modelRequests.length > 0);
      await world.cancel();
      await server.waitUntilQuiet();
      await world.prompt("Two");
      expect(await world.waitForEvent("turn.finished", 2)).toMatchObject({ outcome: "completed" });
      expect(server.modelRequests.map(linesOf)).toEqual([
        ["user: One"],
        ["user: One", "user: Two"],
      ]);
      expect(await world.listEvents("upstream.settled")).toEqual([]);
      open();
    });
  });

  describe("Unanswered tool calls", () => {
    it("The outcome of interrupted tool calls is sent before the next prompt [RMA-P1-24]", async () => {
      const wait = createTool({ name: "wait" }, (_, context) => {
        context.progress("waiting");
        return new Promise(() => undefined);
      });
      const look = createTool({ name: "look" }, () => "seen");
      const { world, server } = await localWorld(
        dialect,
        [wants({ id: "c1", name: "wait" }, { id: "c2", name: "look" }), says("Yes.")],
        { tools: [wait, look] },
      );
      await world.prompt("One");
      await world.waitForEvent("tool.progress");
      await world.waitForEvent("tool.finished");
      await world.cancel();
      await world.prompt("Two");
      await world.waitForEvent("turn.finished", 2);
      expect(server.modelRequests.map(linesOf).at(-1)).toEqual([
        "user: One",
        "assistant: Let me see.",
        "call c1: wait {}",
        "call c2: look {}",
        "result c1: wait was stopped: the turn was cancelled. Its effects so far are unknown.",
        "result c2: seen",
        "user: Two",
      ]);
    });

    it("Tool calls interrupted by a kill have an unknown outcome [RMA-P1-24]", async () => {
      const wait = createTool({ name: "wait" }, (_, context) => {
        context.progress("waiting");
        return new Promise(() => undefined);
      });
      const { world, server, agent } = await localWorld(
        dialect,
        [wants({ id: "c1", name: "wait" }), says("Yes.")],
        { tools: [wait] },
      );
      await world.prompt("One");
      await world.waitForEvent("tool.progress");
      const next = await world.restart(agent());
      await next.waitForEvent("approval.requested");
      await next.cancel();
      await next.prompt("Two");
      await next.waitForEvent("turn.finished", 2);
      expect(server.modelRequests.map(linesOf).at(-1)).toEqual([
        "user: One",
        "assistant: Let me see.",
        "call c1: wait {}",
        expect.stringContaining("Its effects so far are unknown."),
        "user: Two",
      ]);
    });
  });
});
