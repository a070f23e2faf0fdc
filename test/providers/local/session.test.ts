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

describe.each(DIALECTS)("a session over a model that speaks %s", (dialect) => {
  it("runs its tools, and asks the model each time with all that was said", async () => {
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
    const said = [
      "user: Which shoes?",
      "assistant: Let me see.",
      'call c1: look {"at":"shoes"}',
      'result c1: {"pairs":2}',
      "assistant: Two pairs.",
      "user: Really?",
    ];
    expect(server.modelRequests.map(linesOf)).toEqual([said.slice(0, 1), said.slice(0, 4), said]);
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

  it("tells the model of arguments that cannot be read, and runs nothing", async () => {
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

  it("gives thoughts back only where they are sealed", async () => {
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

  it("goes on with a conversation whose tools are gone", async () => {
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
    expect(JSON.stringify(server.modelRequests[2]?.tools)).toContain("Is not there any more");
  });

  describe("that is busy or fails", () => {
    const date = "Mon, 16 Nov 2026 00:00:00 GMT";

    it.each([
      ["429 and seconds", 429, { "retry-after": "7" }, 7000],
      ["429 and a date", 429, { date, "retry-after": "Mon, 16 Nov 2026 00:00:09 GMT" }, 9000],
      ["503 and seconds", 503, { "retry-after": "2" }, 2000],
      ["529 and a date", 529, { date, "retry-after": "Mon, 16 Nov 2026 00:00:01 GMT" }, 1000],
      ["429 alone", 429, {}, 375],
      ["408", 408, {}, 375],
      ["500", 500, {}, 375],
    ] as const)(
      "with %s is asked again after that time, and the log says so [RMA-P1-22]",
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

    it("fails the turn in the end, and hears of it all with the next prompt [RMA-P1-22]", async () => {
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

    it("with what is no passing trouble is asked once [RMA-P1-22]", async () => {
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

    it("inside its answer ends the turn with what was said, and is not asked again [RMA-P1-22]", async () => {
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

    it("with what cannot be read ends the turn as failed", async () => {
      const { world } = await localWorld(dialect, [garbles("So far"), says("Yes.")]);
      await world.prompt("One");
      const { outcome, failure } = await world.waitForEvent("turn.finished");
      expect([outcome, failure?.code]).toEqual(["failed", "malformed_event"]);
      await world.prompt("Two");
      expect(await world.waitForEvent("turn.finished", 2)).toMatchObject({ outcome: "completed" });
    });
  });

  describe("that is cut off", () => {
    it("in the middle of a call is asked again, and the call runs once", async () => {
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

    it("by a kill goes on in the next process from the log alone", async () => {
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

    it("by a cancel before its first word closes its connection, and hears the next prompt at once", async () => {
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

  describe("whose calls were not answered", () => {
    it("says what became of them before the next words of the user [RMA-P1-24]", async () => {
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
        "result c1: wait was stopped: the turn was cancelled. What it had done by then is not known.",
        "result c2: seen",
        "user: Two",
      ]);
    });

    it("because the bridge was killed says that their outcome is unknown [RMA-P1-24]", async () => {
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
        expect.stringContaining("What it had done by then is not known."),
        "user: Two",
      ]);
    });
  });
});
