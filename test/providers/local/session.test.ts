import { describe, expect, it } from "vitest";
import {
  after,
  answering,
  cuts,
  DIALECTS,
  fails,
  garbles,
  hangs,
  refuses,
  says,
  wants,
} from "../../support/model-server.ts";
import { tool } from "../../support/session-world.ts";
import { linesOf, localWorld } from "./local-world.ts";
import { until } from "../../support/until.ts";

describe.each(DIALECTS)("a session over a model that speaks %s", (dialect) => {
  it("runs its tools, and asks the model each time with all that was said", async () => {
    const inputs: unknown[] = [];
    const look = tool({ name: "look" }, (input) => {
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
    expect(await world.event("turn.finished")).toMatchObject({
      outcome: "completed",
      usage: { inputTokens: 20, outputTokens: 10 },
    });
    await world.prompt("Really?");
    await world.event("turn.finished", 2);
    expect(inputs).toEqual([{ at: "shoes" }]);
    const said = [
      "user: Which shoes?",
      "assistant: Let me see.",
      'call c1: look {"at":"shoes"}',
      'result c1: {"pairs":2}',
      "assistant: Two pairs.",
      "user: Really?",
    ];
    expect(server.asked.map(linesOf)).toEqual([said.slice(0, 1), said.slice(0, 4), said]);
    const [first] = server.asked;
    expect(first).toMatchObject({ model: "small", max_tokens: 50, temperature: 0.5, stream: true });
    expect(JSON.stringify(first)).toContain("Be brief.");
    expect(first?.tools).toHaveLength(1);
    expect((await world.events("text.finished")).map(({ text }) => text)).toEqual([
      "Let me see.",
      "Two pairs.",
      "Yes, two.",
    ]);
  });

  it("tells the model of arguments that cannot be read, and runs nothing", async () => {
    const look = tool({ name: "look" }, () => {
      throw new Error("It ran");
    });
    const { world, server } = await localWorld(
      dialect,
      [wants({ id: "c1", name: "look", inputText: '{"at":' }), says("I see.")],
      { tools: [look] },
    );
    await world.prompt("Look");
    await world.event("turn.finished");
    expect(await world.events("tool.started")).toEqual([]);
    expect(linesOf(server.asked[1] ?? { messages: [] })).toEqual([
      "user: Look",
      "assistant: Let me see.",
      'call c1: look {"unreadable":"{\\"at\\":"}',
      expect.stringMatching(/^result c1: look was not run: its arguments could not be read/),
    ]);
  });

  it("gives thoughts back only where they are sealed", async () => {
    const { world, server } = await localWorld(dialect, [
      answering({
        thinking: "Hm.",
        text: "Well.",
        reason: dialect === "chat" ? "stop" : "end_turn",
      }),
      says("Yes."),
    ]);
    await world.prompt("One");
    await world.event("turn.finished");
    await world.prompt("Two");
    await world.event("turn.finished", 2);
    expect(await world.events("thought.finished")).toMatchObject([{ text: "Hm." }]);
    expect(linesOf(server.asked[1] ?? { messages: [] })).toEqual([
      "user: One",
      ...(dialect === "chat" ? [] : ["thinking: Hm."]),
      "assistant: Well.",
      "user: Two",
    ]);
  });

  it("goes on with a conversation whose tools are gone", async () => {
    const look = tool({ name: "look" }, () => "seen");
    const { world, server, agent } = await localWorld(
      dialect,
      [wants({ id: "c1", name: "look" }), says("Seen."), says("Yes.")],
      { tools: [look] },
    );
    await world.prompt("One");
    await world.event("turn.finished");
    const next = await world.restart(agent({ tools: [] }));
    await next.prompt("Two");
    await next.event("turn.finished", 2);
    expect(JSON.stringify(server.asked[2]?.tools)).toContain("Is not there any more");
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
        expect(await world.event("turn.finished")).toMatchObject({ outcome: "completed" });
        expect(waits[0]).toBe(wait);
        expect(server.asked).toHaveLength(2);
        expect(await world.events("call.started")).toHaveLength(1);
        expect(await world.events("activity.seen")).toMatchObject([
          { kind: "retry-wait", label: expect.stringContaining(`${status}`) },
        ]);
      },
    );

    it("fails the turn in the end, and hears of it all with the next prompt [RMA-P1-22]", async () => {
      const busy = refuses(429, {}, "rate_limit_error");
      const { world, server } = await localWorld(dialect, [busy, busy, busy, says("Yes.")]);
      await world.prompt("One");
      expect(await world.event("turn.finished")).toMatchObject({
        outcome: "failed",
        failure: { code: "throttled", details: { phase: "http", status: 429 } },
      });
      await world.prompt("Two");
      expect(await world.event("turn.finished", 2)).toMatchObject({ outcome: "completed" });
      expect(server.asked.map(linesOf).at(-1)).toEqual(["user: One", "user: Two"]);
    });

    it("with what is no passing trouble is asked once [RMA-P1-22]", async () => {
      const { world, server } = await localWorld(dialect, [
        refuses(400, {}, "invalid_request_error"),
      ]);
      await world.prompt("One");
      expect(await world.event("turn.finished")).toMatchObject({
        outcome: "failed",
        failure: { code: "validation_failed" },
      });
      expect(server.asked).toHaveLength(1);
    });

    it("inside its answer ends the turn with what was said, and is not asked again [RMA-P1-22]", async () => {
      const { world, server } = await localWorld(dialect, [
        fails("So far", "overloaded_error"),
        says("Yes."),
      ]);
      await world.prompt("One");
      expect(await world.event("turn.finished")).toMatchObject({
        outcome: "failed",
        failure: { code: "service_failed" },
      });
      expect(server.asked).toHaveLength(1);
      await world.prompt("Two");
      await world.event("turn.finished", 2);
      expect(server.asked.map(linesOf).at(-1)).toEqual([
        "user: One",
        "assistant: So far",
        "user: Two",
      ]);
    });

    it("with what cannot be read ends the turn as failed", async () => {
      const { world } = await localWorld(dialect, [garbles("So far"), says("Yes.")]);
      await world.prompt("One");
      const { outcome, failure } = await world.event("turn.finished");
      expect([outcome, failure?.code]).toEqual(["failed", "malformed_event"]);
      await world.prompt("Two");
      expect(await world.event("turn.finished", 2)).toMatchObject({ outcome: "completed" });
    });
  });

  describe("that is cut off", () => {
    it("in the middle of a call is asked again, and the call runs once", async () => {
      let runs = 0;
      const look = tool({ name: "look" }, () => (runs += 1));
      const call = { id: "c1", name: "look", input: { at: 1 } };
      const { world, server } = await localWorld(
        dialect,
        [cuts({ text: "Let me", calls: [call] }), wants(call), says("Yes.")],
        { tools: [look] },
      );
      await world.prompt("One");
      expect(await world.event("turn.finished")).toMatchObject({ outcome: "completed" });
      expect(await world.events("call.lost")).toHaveLength(1);
      expect(runs).toBe(1);
      expect(server.asked.map(linesOf).slice(0, 2)).toEqual([["user: One"], ["user: One"]]);
      expect(linesOf(server.asked[2] ?? { messages: [] })).not.toContain("assistant: Let me");
    });

    it("by a kill goes on in the next process from the log alone", async () => {
      const look = tool({ name: "look" }, () => "seen");
      const { world, server, agent } = await localWorld(
        dialect,
        [wants({ id: "c1", name: "look" }), hangs("I thi"), says("Yes.")],
        { tools: [look] },
      );
      await world.prompt("One");
      await world.event("message.started", 2);
      const next = await world.restart(agent());
      expect(await next.event("turn.finished")).toMatchObject({ outcome: "completed" });
      expect(server.asked).toHaveLength(3);
      expect(linesOf(server.asked[2] ?? { messages: [] })).toEqual(
        linesOf(server.asked[1] ?? { messages: [] }),
      );
    });

    it("by a cancel before its first word closes its connection, and hears the next prompt at once", async () => {
      let open = (): void => undefined;
      const never = new Promise<void>((resolve) => {
        open = resolve;
      });
      const { world, server } = await localWorld(dialect, [
        after(never, says("Late.")),
        says("Yes."),
      ]);
      await world.prompt("One");
      await until(() => server.asked.length > 0);
      await world.cancel();
      await server.quiet();
      await world.prompt("Two");
      expect(await world.event("turn.finished", 2)).toMatchObject({ outcome: "completed" });
      expect(server.asked.map(linesOf)).toEqual([["user: One"], ["user: One", "user: Two"]]);
      expect(await world.events("upstream.settled")).toEqual([]);
      open();
    });
  });

  describe("whose calls were not answered", () => {
    it("says what became of them before the next words of the user [RMA-P1-24]", async () => {
      const wait = tool({ name: "wait" }, (_, context) => {
        context.progress("waiting");
        return new Promise(() => undefined);
      });
      const look = tool({ name: "look" }, () => "seen");
      const { world, server } = await localWorld(
        dialect,
        [wants({ id: "c1", name: "wait" }, { id: "c2", name: "look" }), says("Yes.")],
        { tools: [wait, look] },
      );
      await world.prompt("One");
      await world.event("tool.progressed");
      await world.event("tool.finished");
      await world.cancel();
      await world.prompt("Two");
      await world.event("turn.finished", 2);
      expect(server.asked.map(linesOf).at(-1)).toEqual([
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
      const wait = tool({ name: "wait" }, (_, context) => {
        context.progress("waiting");
        return new Promise(() => undefined);
      });
      const { world, server, agent } = await localWorld(
        dialect,
        [wants({ id: "c1", name: "wait" }), says("Yes.")],
        { tools: [wait] },
      );
      await world.prompt("One");
      await world.event("tool.progressed");
      const next = await world.restart(agent());
      await next.event("approval.requested");
      await next.cancel();
      await next.prompt("Two");
      await next.event("turn.finished", 2);
      expect(server.asked.map(linesOf).at(-1)).toEqual([
        "user: One",
        "assistant: Let me see.",
        "call c1: wait {}",
        expect.stringContaining("What it had done by then is not known."),
        "user: Two",
      ]);
    });
  });
});
