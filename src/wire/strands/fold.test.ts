import { describe, expect, it } from "vitest";
import {
  converseEvent,
  completed,
  ended,
  foldLines,
  foldValues,
  plainTurn,
  saidText,
  started,
  textDelta,
  textMessage,
  tokens,
} from "../../../test/fixtures/strands/fixtures.ts";
import { runCodec } from "../../domain/codec.ts";
import type { DiagnosticCode } from "../../domain/diagnostic.ts";
import type { ProviderEvent, TurnEnd } from "../../domain/provider/provider-event.ts";
import { buildTurn } from "../../domain/provider/turn.ts";
import { createStrandsFold } from "./fold.ts";

function full(...content: readonly unknown[]): { readonly message: unknown } {
  return { message: { role: "assistant", content } };
}

function results(...ids: readonly string[]): { readonly message: unknown } {
  const content = ids.map((toolUseId) => ({
    toolResult: { toolUseId, status: "success", content: [{ text: `of ${toolUseId}` }] },
  }));
  return { message: { role: "user", content } };
}

function toolUse(toolUseId: string): { readonly toolUse: unknown } {
  return { toolUse: { toolUseId, name: "look", input: { for: toolUseId } } };
}

function codesOf(events: readonly ProviderEvent[]): DiagnosticCode[] {
  return buildTurn(events).diagnostics.map(({ code }) => code);
}

function endOf(events: readonly ProviderEvent[]): TurnEnd | null {
  return buildTurn(events).end;
}

const LOOP = [{ init_event_loop: true }, { start: true }, { start_event_loop: true }];

describe("Carriers of one message", () => {
  it("Converse events take precedence over merged events, and merged events over the full message", () => {
    const merged = { data: "Hello", delta: { text: "Hello" } };
    expect(
      foldValues([
        ...textMessage("Hello").slice(0, 2),
        merged,
        ...textMessage("Hello").slice(2),
        full({ text: "Hello" }),
      ]),
    ).toEqual(plainTurn("end_turn", "Hello"));
    expect(foldValues([merged, full({ text: "Hello" })])).toEqual(plainTurn(null, "Hello"));
    expect(foldValues([full({ text: "Hello" })])).toEqual(plainTurn(null, "Hello"));
  });

  it("Reasoning, its signature and redacted reasoning are read from merged events", () => {
    expect(
      foldValues([
        { reasoningText: "Hm", delta: {}, reasoning: true },
        { reasoning_signature: "c2ln", delta: {}, reasoning: true },
        { data: "Hello", delta: {} },
        { reasoningRedactedContent: "AAAA", delta: {}, reasoning: true },
      ]),
    ).toEqual([
      started(0),
      { type: "reasoning.delta", message: 0, block: 0, text: "Hm" },
      { type: "reasoning.end", message: 0, block: 0, text: "Hm", signature: "c2ln" },
      ...saidText({ message: 0, block: 1 }, "Hello"),
      { type: "reasoning.end", message: 0, block: 2, text: "", redacted: "AAAA" },
      ended(0, null),
      completed(null),
    ]);
  });

  it("Only the additional content of a full message is emitted after merged events", () => {
    const values = [
      ...LOOP,
      { data: "Hel", delta: {} },
      full(
        { reasoningContent: { reasoningText: { text: "Hm" } } },
        { text: "Hello" },
        toolUse("A"),
      ),
      results("A"),
      { data: "Done", delta: {} },
      full({ text: "Done" }),
    ];
    const turn = buildTurn(foldValues(values));
    expect(
      turn.messages.map(({ blocks, reason }) => [reason, blocks.map(({ type }) => type)]),
    ).toEqual([
      ["tool_use", ["text", "reasoning", "tool-call"]],
      ["tool_result", ["tool-result"]],
      [null, ["text"]],
    ]);
    expect([turn.text, turn.end?.outcome]).toEqual(["HelloDone", "completed"]);
    expect(turn.diagnostics).toEqual([]);
  });

  it.each(["citationsContent", "citations"])(
    "Citations of a full message are kept if no other carrier delivered them (%s)",
    (name) => {
      const first = { title: "Rates", location: { web: { url: "https://example.com/rates" } } };
      const second = { title: "Terms", sourceContent: [{ text: "2 %" }] };
      const cited = full(
        { text: "So: " },
        { [name]: { content: [{ text: "2 %" }], citations: [first, second] } },
      );
      const unknownEvents = [first, second].map((raw) => ({
        type: "unknown",
        what: "delta",
        name: "citation",
        raw,
      }));
      const merged = { data: "So: 2 %", delta: { text: "So: 2 %" } };
      for (const carriers of [
        [cited],
        [cited, cited],
        [merged, cited],
        [...textMessage("So: 2 %"), cited],
      ]) {
        const turn = buildTurn(foldValues(carriers));
        expect({ text: turn.text, unknown: turn.unknown }).toEqual({
          text: "So: 2 %",
          unknown: unknownEvents,
        });
      }
    },
  );

  it("Citations delivered as deltas are not repeated from the full message", () => {
    const raw = { title: "Rates" };
    const cited = full({ citationsContent: { content: [{ text: "2 %" }], citations: [raw] } });
    const [start, delta, ...rest] = textMessage("2 %");
    const citation = converseEvent("contentBlockDelta", {
      contentBlockIndex: 0,
      delta: { citation: raw },
    });
    const merged = [
      { data: "2 %", delta: {} },
      { citation: raw, delta: {} },
    ];
    for (const carriers of [[start, delta, citation, ...rest], merged]) {
      expect(buildTurn(foldValues([...carriers, cited])).unknown).toEqual([
        { type: "unknown", what: "delta", name: "citation", raw },
      ]);
    }
  });

  it("The remaining text of a full message is added to an open message", () => {
    expect(
      foldValues([converseEvent("messageStart", { role: "assistant" }), full({ text: "Hello" })]),
    ).toEqual(plainTurn(null, "Hello"));
    const cut = textMessage("Hel").slice(0, -1);
    expect(foldValues([...cut, full({ text: "Hello" })])).toEqual([
      started(0),
      ...saidText({ message: 0, block: 0 }, "Hel"),
      ...saidText({ message: 0, block: 1 }, "lo"),
      ended(0, null),
      completed(null),
    ]);
  });

  it("The text of a message closed too early is replaced without a diagnostic", () => {
    expect(foldValues([...textMessage("Hel"), full({ text: "Hello" })])).toEqual([
      started(0),
      ...saidText({ message: 0, block: 0 }, "Hel"),
      ended(0, "end_turn"),
      { type: "message.replaced", message: 0, text: "Hello" },
      completed("end_turn"),
    ]);
  });

  it("A text that contradicts the full message is replaced with a diagnostic [AC-79]", () => {
    expect(foldValues([...textMessage("Hello"), full({ text: "Goodbye" })])).toEqual([
      started(0),
      ...saidText({ message: 0, block: 0 }, "Hello"),
      ended(0, "end_turn"),
      {
        type: "diagnostic",
        diagnostic: {
          code: "text_disagrees",
          message: "The full message differs from the text of its events; the full message is used",
        },
      },
      { type: "message.replaced", message: 0, text: "Goodbye" },
      completed("end_turn"),
    ]);
  });

  it("Tool calls found only in the full message become a separate message", () => {
    const values = [
      ...textMessage("Hello"),
      full({ text: "Hello" }, toolUse("A")),
      results("A"),
      ...textMessage("Done"),
    ];
    const turn = buildTurn(foldValues(values));
    expect(turn.messages.map(({ role, blocks }) => [role, blocks.map(({ type }) => type)])).toEqual(
      [
        ["assistant", ["text"]],
        ["assistant", ["tool-call"]],
        ["user", ["tool-result"]],
        ["assistant", ["text"]],
      ],
    );
    expect(turn.diagnostics.map(({ code }) => code)).toEqual(["text_disagrees"]);
  });

  it("Blocks of unknown kinds are kept [AC-34]", () => {
    const image = { format: "png" };
    expect(buildTurn(foldValues([full({ text: "See" }, { image })])).unknown).toEqual([
      { type: "unknown", what: "start", name: "image", raw: image },
    ]);
    expect(
      buildTurn(foldValues([...textMessage("See"), full({ text: "See" }, { image })])).unknown,
    ).toEqual([{ type: "unknown", what: "start", name: "image", raw: image }]);
  });

  it("A tool call without an id is refused once and never run", () => {
    const turn = buildTurn(foldValues([full({ text: "Hi" }, { toolUse: { name: "look" } })]));
    expect(turn.diagnostics.map(({ code }) => code)).toEqual(["tool_id_missing"]);
    expect([turn.text, turn.toolCalls, turn.serverToolCalls]).toEqual(["Hi", [], []]);
  });

  it("The tokens of a full message are counted unless its Converse events had them", () => {
    const metadata = { usage: { inputTokens: 1, outputTokens: 2 }, metrics: { latencyMs: 3 } };
    const message = { role: "assistant", content: [{ text: "Hi" }], metadata };
    expect(endOf(foldValues([{ message }]))?.usage).toEqual(tokens(1, 2));
    const streamLines = [...textMessage("Hi"), converseEvent("metadata", metadata), { message }];
    expect(endOf(foldValues(streamLines))?.usage).toEqual(tokens(1, 2));
  });

  it("Tokens are counted once if the full message adds blocks", () => {
    const metadata = { usage: { inputTokens: 1, outputTokens: 2 } };
    const content = [{ text: "Hi" }, toolUse("A")];
    const values = [
      ...textMessage("Hi"),
      converseEvent("metadata", metadata),
      { message: { role: "assistant", content, metadata } },
    ];
    expect(endOf(foldValues(values))?.usage).toEqual(tokens(1, 2));
  });

  it("A repeated full message is recognized by its id, its tool calls or its text", () => {
    const named = { role: "assistant", content: [{ text: "Hi" }], tracking_id: "m-1" };
    expect(foldValues([{ message: named }, { message: named }])).toEqual(plainTurn(null, "Hi"));
    expect(foldValues([full({ text: "Hi" }), full({ text: "Hi" })])).toEqual(plainTurn(null, "Hi"));
    const called = [
      full(toolUse("A")),
      results("A"),
      full(toolUse("A")),
      results("A"),
      full({ text: "Hi" }),
    ];
    expect(buildTurn(foldValues(called)).messages).toHaveLength(3);
  });

  it("A repeated message of Strands TS is recognized after tool results [AC-85]", () => {
    const message = { role: "assistant", content: [{ text: "Hi" }], trackingId: "m-1" };
    const messageEvent = { type: "modelMessageEvent", message, stopReason: "endTurn" };
    const added = { type: "messageAddedEvent", message };
    expect(buildTurn(foldValues([messageEvent, results("A"), added])).text).toBe("Hi");
  });

  it("A full message after tool results is a new message", () => {
    const turn = buildTurn(
      foldValues([...textMessage("One"), results("A"), full({ text: "Two" })]),
    );
    expect(turn.messages.map(({ role }) => role)).toEqual(["assistant", "user", "assistant"]);
    expect(turn.text).toBe("OneTwo");
  });

  it("Texts are compared with a lone surrogate as U+FFFD [AC-81]", () => {
    const values = [...textMessage("smile \ud83d"), full({ text: "smile \ud83d" })];
    expect(codesOf(foldValues(values))).toEqual(["unpaired_surrogate"]);
  });

  it.each([
    ["nothing", []],
    ["the full message", [full({ text: "Secret" })]],
    ["the next cycle", [{ start_event_loop: true }]],
    ["the results of tools", [results("A")]],
  ])("A text is redacted although %s came before [AC-79]", (_, between) => {
    const redaction = converseEvent("redactContent", {
      redactAssistantContentMessage: "[redacted]",
    });
    const copy = full({ text: "Secret" });
    for (const rest of [[], [copy]]) {
      const events = foldValues([...textMessage("Secret"), ...between, redaction, ...rest]);
      expect(events.filter((event) => event.type === "message.replaced")).toEqual([
        { type: "message.replaced", message: 0, text: "[redacted]" },
      ]);
      expect(buildTurn(events).text).toBe("[redacted]");
    }
  });

  it("A turn completes if its only full copy has the redacted text [AC-79]", () => {
    const redaction = converseEvent("redactContent", {
      redactAssistantContentMessage: "[redacted]",
    });
    const values = [...LOOP, ...textMessage("Secret"), redaction, full({ text: "Secret" })];
    const turn = buildTurn(foldValues(values));
    expect([turn.text, turn.end?.outcome]).toEqual(["[redacted]", "completed"]);
  });

  it("A redaction before any message is kept as unknown [AC-34, AC-79]", () => {
    const raw = { redactAssistantContentMessage: "[redacted]" };
    const events = foldValues([converseEvent("redactContent", raw), ...textMessage("Hi")]);
    expect(buildTurn(events)).toMatchObject({
      text: "Hi",
      unknown: [{ name: "redactContent", raw }],
    });
  });

  it("Text after a redaction is appended to the replacement [AC-79]", () => {
    const values = [
      ...textMessage("Secret").slice(0, 3),
      converseEvent("redactContent", { redactAssistantContentMessage: "[redacted]" }),
      textDelta(" and more", 1),
      converseEvent("contentBlockStop", { contentBlockIndex: 1 }),
      converseEvent("messageStop", { stopReason: "end_turn" }),
      full({ text: "[redacted] and more" }),
    ];
    const events = foldValues(values);
    expect(buildTurn(events).text).toBe("[redacted] and more");
    expect(events.filter((event) => event.type === "message.replaced")).toHaveLength(1);
  });

  it("Two full messages with different ids and the same text are two messages", () => {
    const message = (id: string): unknown => ({
      message: { role: "assistant", content: [{ text: "Hi" }], tracking_id: id },
    });
    expect(buildTurn(foldValues([message("m-1"), message("m-2")])).text).toBe("HiHi");
  });

  it("Bare strings that repeat Converse events are dropped, and other strings are kept", () => {
    const lines = textMessage("One. ", "Two.");
    const repeated = [
      ...lines.slice(0, 2),
      "One. ",
      ...lines.slice(2, 3),
      "Tw",
      "o.",
      ...lines.slice(3),
    ];
    expect(foldValues(repeated)).toEqual(plainTurn("end_turn", "One. ", "Two."));
    const foreign = foldValues([...lines.slice(0, 2), "Searching", ...lines.slice(2)]);
    expect(buildTurn(foreign)).toMatchObject({
      text: "One. Two.",
      unknown: [{ name: "text", raw: "Searching" }],
      diagnostics: [{ code: "text_disagrees" }],
    });
    const both = foldValues([
      ...lines.slice(0, 2),
      "One. ",
      "Aside",
      ...lines.slice(2, 3),
      "Two.",
      ...lines.slice(3),
    ]);
    expect(buildTurn(both).unknown.map(({ raw }) => raw)).toEqual(["Aside"]);
    expect(buildTurn(foldValues([...lines, "Bye"])).messages).toHaveLength(2);
  });

  it("Converse events end a message of bare strings and begin another", () => {
    expect(foldValues(["Searching", ...textMessage("Found")])).toEqual([
      started(0),
      ...saidText({ message: 0, block: 0 }, "Searching"),
      ended(0, null),
      started(1),
      ...saidText({ message: 1, block: 1 }, "Found"),
      ended(1, "end_turn"),
      completed("end_turn"),
    ]);
  });

  it("A full message after a redaction decides the text [AC-79]", () => {
    const redaction = converseEvent("redactContent", {
      redactAssistantContentMessage: "[redacted]",
    });
    expect(foldValues([...textMessage("Secret"), redaction, full({ text: "[nothing]" })])).toEqual([
      started(0),
      ...saidText({ message: 0, block: 0 }, "Secret"),
      ended(0, "end_turn"),
      { type: "message.replaced", message: 0, text: "[redacted]" },
      { type: "message.replaced", message: 0, text: "[nothing]" },
      completed("end_turn"),
    ]);
  });

  it("Arguments are never read from current_tool_use", () => {
    const ahead = { toolUseId: "A", name: "look", input: { not: "yet" } };
    const values = [
      { type: "tool_use_stream", delta: { toolUse: { input: "{" } }, current_tool_use: ahead },
      { delta: { toolUse: { input: "{" } }, current_tool_use: ahead },
      full({ text: "Hi" }),
    ];
    expect(foldValues(values)).toEqual(plainTurn(null, "Hi"));
  });
});

describe("The side that runs tools", () => {
  const round = [
    converseEvent("messageStart", { role: "assistant" }),
    converseEvent("contentBlockStart", {
      start: { toolUse: { toolUseId: "A", name: "look" } },
      contentBlockIndex: 0,
    }),
    converseEvent("contentBlockStop", { contentBlockIndex: 0 }),
    converseEvent("messageStop", { stopReason: "tool_use" }),
  ];

  it("A tool call is not open if the agent answers it or continues without a result", () => {
    const answered = foldValues([...round, results("A"), ...textMessage("Done")]);
    expect(endOf(answered)).toEqual(completed("end_turn"));
    const passed = foldValues([...round, ...textMessage("Done")]);
    expect(endOf(passed)).toEqual(completed("end_turn"));
    expect(codesOf(passed)).toEqual(["tool_result_missing"]);
  });

  it('Tool calls are open for the client if toolsRunBy is "caller" [AC-39]', () => {
    expect(endOf(foldValues(round, { toolsRunBy: "caller" }))).toEqual({
      type: "end",
      outcome: "action-required",
      reason: "tool_use",
      openToolCallIds: ["A"],
      usage: null,
    });
  });

  it("No tool call is open if the loop stopped for another reason [AC-39]", () => {
    const message = { role: "assistant", content: [toolUse("A")] };
    const end = (stop_reason: string): TurnEnd | null =>
      endOf(foldValues([...round, { result: { stop_reason, message } }], { toolsRunBy: "caller" }));
    expect(end("interrupt")).toMatchObject({ outcome: "limited", openToolCallIds: [] });
    expect(end("malformed_tool_use")).toMatchObject({ outcome: "failed", openToolCallIds: [] });
    expect(end("something_new")).toMatchObject({ outcome: "other", openToolCallIds: ["A"] });
    expect(end("tool_use")).toMatchObject({ outcome: "action-required", openToolCallIds: ["A"] });
  });

  it("A repeated tool result is emitted once", () => {
    const events = foldValues([...round, results("A"), results("A"), ...textMessage("Done")]);
    expect(events.filter((event) => event.type === "tool.result")).toHaveLength(1);
  });
});

describe("Display names of tools", () => {
  const progress = (name: string): unknown => ({
    type: "tool_stream",
    tool_stream_event: { tool_use: { toolUseId: "A", name }, data: "half way" },
  });

  it("Tool progress has a display name from the built-in or the caller's table [AC-102]", () => {
    const displayNames = [{ prefix: "get_", includes: "weather", label: "🌦 Weather" }];
    const names = ["aws___search_documentation", "get_weather", "other"];
    expect(
      foldValues(names.map(progress), { displayNames }).flatMap((event) =>
        event.type === "activity" ? [event.label] : [],
      ),
    ).toEqual(["🔍 AWS Documentation Search", "🌦 Weather", "other"]);
  });

  it("A tool announced without a name is Unknown Tool [AC-102]", () => {
    expect(foldValues([{ type: "tool_use", tool_name: null }])[0]).toEqual({
      type: "activity",
      kind: "tool-call-opened",
      label: "Unknown Tool",
    });
  });
});

describe("Results", () => {
  it("A result as text is the text of the turn if no other carrier has text", () => {
    expect(foldValues([{ result: "Hello" }])).toEqual(plainTurn(null, "Hello"));
    expect(foldValues([...textMessage("Hello"), { result: "Hello\n" }])).toEqual(
      plainTurn("end_turn", "Hello"),
    );
  });

  it("A result that differs from the text is kept as unknown [AC-34]", () => {
    expect(buildTurn(foldValues([...textMessage("Hello"), { result: "Other" }]))).toMatchObject({
      text: "Hello",
      unknown: [{ name: "result", raw: "Other" }],
      diagnostics: [{ code: "text_disagrees" }],
      end: { outcome: "completed" },
    });
  });

  it("The tokens of the loop are counted only if no other event reported tokens", () => {
    const metrics = { accumulated_usage: { inputTokens: 3, outputTokens: 4 } };
    const message = { role: "assistant", content: [{ text: "Hi" }] };
    const result = { stop_reason: "end_turn", message, metrics };
    expect(endOf(foldValues([{ result }]))?.usage).toEqual(tokens(3, 4));
    const usage = { inputTokens: 1, outputTokens: 2 };
    const streamLines = [...textMessage("Hi"), converseEvent("metadata", { usage }), { result }];
    expect(endOf(foldValues(streamLines))?.usage).toEqual(tokens(1, 2));
  });

  it("A result without a message is a structured result", () => {
    expect(foldValues([{ result: { answer: 42 } }])).toEqual([
      { type: "activity", kind: "structured-result", raw: { answer: 42 } },
      completed(null),
    ]);
  });

  it.each([
    ["end_turn", "completed"],
    ["tool_use", "completed"],
    ["cancelled", "limited"],
    ["checkpoint", "limited"],
    ["interrupt", "limited"],
    ["limit_turns", "limited"],
    ["max_tokens", "limited"],
    ["guardrailIntervened", "limited"],
    ["something_new", "other"],
  ])("A loop that stopped for %s ends as %s", (stop_reason, outcome) => {
    const result = { stop_reason, message: { role: "assistant", content: [{ text: "Hi" }] } };
    expect(endOf(foldValues([...LOOP, { result }]))?.outcome).toBe(outcome);
  });
});

describe("The failure of a turn", () => {
  const message = { role: "assistant", content: [{ text: "Hi" }] };

  it("A turn stopped by the model fails with the model's reason, as in Converse", () => {
    const result = { stop_reason: "malformed_model_output", message };
    const stopped = [
      ...textMessage("Hi").slice(0, -1),
      converseEvent("messageStop", { stopReason: "malformed_model_output" }),
      { result: "Hi" },
    ];
    expect(endOf(foldValues(stopped))).toEqual(endOf(foldValues([...LOOP, { result }])));
    expect(endOf(foldValues([...LOOP, { result }]))).toEqual({
      type: "end",
      outcome: "failed",
      reason: "malformed_model_output",
      openToolCallIds: [],
      usage: null,
      failure: {
        code: "stream_exception",
        message: 'The provider ended the turn with "malformed_model_output"',
        details: { reason: "malformed_model_output" },
      },
    });
  });

  it("A turn with failed nodes fails without a reason", () => {
    const failed = { type: "multiagent_result", result: { status: "failed" } };
    expect(endOf(foldValues([failed]))?.failure).toEqual({
      code: "stream_exception",
      message: "The provider ended the turn as failed",
      details: {},
    });
  });
});

describe("A loop without an end", () => {
  it("A turn of a loop fails if its bare strings have no full copy", () => {
    expect(foldValues(["Hi"]).at(-1)).toEqual(completed(null));
    expect(endOf(foldValues([...LOOP, "Hi"]))).toMatchObject({
      outcome: "failed",
      failure: { code: "incomplete_turn" },
    });
  });

  it("A turn fails if another message begins after its result", () => {
    const values = [...textMessage("Hi"), { result: "Hi" }, ...textMessage("More").slice(0, 2)];
    expect(endOf(foldValues(values))).toMatchObject({
      outcome: "failed",
      failure: { code: "incomplete_turn" },
    });
  });
});

describe("Nodes of a multi-agent run", () => {
  const accumulated_usage = { inputTokens: 3, outputTokens: 4 };
  const message = { role: "assistant", content: [{ text: "from the node" }] };
  const result = {
    status: "completed",
    results: { a: { result: { message } } },
    accumulated_usage,
  };
  const done = { type: "multiagent_result", result };

  it("The result and the tokens of the nodes belong to the turn", () => {
    expect(foldValues([done])).toEqual([
      { type: "activity", kind: "node", raw: done },
      { type: "usage", usage: tokens(3, 4) },
      started(0),
      ...saidText({ message: 0, block: 0 }, "from the node"),
      ended(0, null),
      completed(null, tokens(3, 4)),
    ]);
  });

  it("The result of nodes adds nothing to a turn with its own text and tokens [AC-84]", () => {
    const usage = { inputTokens: 1, outputTokens: 2 };
    const turn = buildTurn(
      foldValues([...textMessage("Hi"), converseEvent("metadata", { usage }), done]),
    );
    expect([turn.text, turn.usage]).toEqual(["Hi", tokens(1, 2)]);
  });

  it.each([
    ["FAILED", "failed"],
    ["interrupted", "limited"],
    ["unheard of", "other"],
  ])("A node status of %s ends the turn with the matching outcome", (status, outcome) => {
    const events = foldValues([{ type: "multiagent_result", result: { status } }]);
    expect(endOf(events)?.outcome).toBe(outcome);
  });
});

describe("Errors inside a 200 response", () => {
  it("Text before an error stays open as truncated text [AC-80]", () => {
    const events = foldValues(["Hel", { error: "boom", error_type: "Boom" }]);
    expect(events.find((event) => event.type === "text.end")).toEqual({
      type: "text.end",
      message: 0,
      block: 0,
      text: "Hel",
      implicitStop: true,
    });
  });

  it("The first failure and the text before it are kept [AC-80]", () => {
    const values = [
      ...textMessage("Hel").slice(0, 2),
      { force_stop: true, force_stop_reason: "why" },
      { error: "first", error_type: "A", message: "x", request_id: "7" },
      { error: "second", error_type: "B", message: "x" },
    ];
    expect(buildTurn(foldValues(values))).toMatchObject({
      text: "Hel",
      end: { outcome: "failed", failure: { message: "A: first", details: { forceStop: "why" } } },
    });
  });

  it("A turn that ends with force_stop alone fails [AC-80]", () => {
    const values = [...LOOP, { force_stop: true, force_stop_reason: "no tokens left" }];
    expect(endOf(foldValues(values))).toMatchObject({
      outcome: "failed",
      failure: { code: "stream_exception", message: "force_stop: no tokens left" },
    });
  });

  it.each([
    ['{"error":"boom"}', "boom"],
    ['{"message":"boom"}', "boom"],
    ['"boom"', "boom"],
    ["boom", "boom"],
    ['{"code":7}', '{"code":7}'],
    ["7", "7"],
  ])("The error event %s fails the turn [AC-80]", (data, message) => {
    const events = runCodec(createStrandsFold(), [{ type: "event", event: "error", data }]);
    expect(endOf(events)).toMatchObject({
      outcome: "failed",
      failure: { code: "stream_exception", message },
    });
  });

  it("An app's object with an error field is an error only without other fields [AC-34]", () => {
    expect(endOf(foldValues([{ error: "boom" }]))).toMatchObject({ failure: { message: "boom" } });
    const mixed = { error: "one source was slow", sources: 3 };
    expect(buildTurn(foldValues([mixed])).unknown).toMatchObject([{ name: "error", raw: mixed }]);
  });

  it("A serialization failure is reported, and the turn continues [AC-80]", () => {
    const lost = { error: "Serialization failed", original_type: "Odd" };
    const events = foldValues([lost, ...textMessage("Hi")]);
    expect([codesOf(events), endOf(events)?.outcome]).toEqual([["content_lost"], "completed"]);
  });

  it("A framing failure ends the turn", () => {
    const failure = { code: "event_too_large", message: "Too much", details: {} } as const;
    expect(endOf(runCodec(createStrandsFold(), [{ type: "failure", failure }]))).toMatchObject({
      outcome: "failed",
      failure,
    });
  });
});

describe("Other protocols on the same endpoint", () => {
  it("AG-UI events are forwarded unchanged, and their run end is recognized [AC-85]", () => {
    const run = [
      { type: "RUN_STARTED", threadId: "t", runId: "r" },
      { type: "TEXT_MESSAGE_START", messageId: "m", role: "assistant" },
      { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "Hi" },
      { type: "TEXT_MESSAGE_END", messageId: "m" },
      { type: "RUN_FINISHED", threadId: "t", runId: "r" },
    ];
    expect(foldValues(run)).toEqual([
      ...run.map((raw) => ({ type: "unknown", what: "event", name: raw.type, raw })),
      completed(null),
    ]);
    expect(endOf(foldValues(run.slice(0, 3)))?.outcome).toBe("failed");
    expect(endOf(foldValues([{ type: "RUN_ERROR", message: "boom", code: "E1" }]))).toMatchObject({
      outcome: "failed",
      failure: { message: "E1: boom" },
    });
  });

  it("Unknown events are kept with a diagnostic [AC-34]", () => {
    const raw = { progress: 0.5, stage: "thinking" };
    expect(foldValues([raw, ...textMessage("Hi")])).toEqual([
      { type: "unknown", what: "event", name: "progress", raw },
      {
        type: "diagnostic",
        diagnostic: {
          code: "unknown_event",
          message: 'Unknown event "progress" is kept as it came',
        },
      },
      ...plainTurn("end_turn", "Hi"),
    ]);
  });

  it("Values that are neither text nor an event are kept [AC-34]", () => {
    const values = [
      null,
      [1, 2],
      [],
      { data: { not: "text" } },
      { type: "status", data: "busy" },
      { message: { role: "system", content: [{ text: "Be secret." }] } },
      { type: "modelStreamUpdateEvent", event: { type: "modelSomethingNewEvent" } },
    ];
    expect(buildTurn(foldValues(values)).unknown.map(({ raw }) => raw)).toEqual(values);
  });

  it("Events wrapped once more and lists of events are unwrapped", () => {
    const wrapped = [...LOOP, full({ text: "Hi" })].map((event) => ({ event }));
    expect(buildTurn(foldValues(wrapped))).toMatchObject({ text: "Hi", unknown: [] });
    expect(foldValues([textMessage("Hi")])).toEqual(plainTurn("end_turn", "Hi"));
  });

  it("Numbers and booleans without quotes are text [AC-85]", () => {
    expect(foldLines(["The answer is ", "42", ".", '"', '"x"', "null"])).toEqual(
      plainTurn(null, "The answer is ", "42", ".", '"', '"x"', "null"),
    );
    expect(foldLines(["42", "true"])).toEqual(plainTurn(null, "42", "true"));
  });

  it("A broken line among JSON fails the turn unless the full message completes the text", () => {
    const lines = textMessage("One. ", "Two.").map((value) => JSON.stringify(value));
    const broken = lines.map((line, index) => (index === 1 ? line.slice(0, -3) : line));
    expect(endOf(foldLines(broken))).toMatchObject({
      outcome: "failed",
      failure: { code: "malformed_event" },
    });
    const filled = foldLines([...broken, JSON.stringify(full({ text: "One. Two." }))]);
    expect(buildTurn(filled)).toMatchObject({ text: "One. Two.", end: { outcome: "completed" } });
  });
});

describe("Bodies and captures", () => {
  it("A body in one piece is a complete turn [AC-83]", () => {
    const body = (value: unknown): ProviderEvent[] =>
      runCodec(createStrandsFold(), [{ type: "body", value }]);
    expect(body("Hi")).toEqual(plainTurn(null, "Hi"));
    expect(body({ result: "Hi" })).toEqual(plainTurn(null, "Hi"));
    expect(
      body({ message: { role: "assistant", content: [{ text: "Hi" }] }, stop_reason: "end_turn" }),
    ).toEqual(plainTurn("end_turn", "Hi"));
    expect(body(textMessage("Hi"))).toEqual(plainTurn("end_turn", "Hi"));
    for (const raw of [42, null, [1], { answer: 42 }]) {
      expect(body(raw)).toEqual([
        { type: "activity", kind: "structured-result", raw },
        completed(null),
      ]);
    }
  });

  it("Parsed values are folded like lines", () => {
    const values = textMessage("One. ", "Two.");
    expect(
      runCodec(
        createStrandsFold(),
        values.map((value) => ({ type: "value", value }) as const),
      ),
    ).toEqual(foldValues(values));
  });
});

describe("Limits", () => {
  it("10,000 blocks and 1,000 messages are folded once each", () => {
    const blocks = Array.from({ length: 10_000 }, (_, index) => [
      converseEvent("contentBlockStart", {
        start: { toolUse: { toolUseId: `t${index}`, name: "look" } },
        contentBlockIndex: index,
      }),
      converseEvent("contentBlockStop", { contentBlockIndex: index }),
    ]).flat();
    const ids = Array.from({ length: 10_000 }, (_, index) => `t${index}`);
    const many = [
      converseEvent("messageStart", { role: "assistant" }),
      ...blocks,
      converseEvent("messageStop", { stopReason: "tool_use" }),
      full(...ids.map((id) => ({ toolUse: { toolUseId: id, name: "look", input: {} } }))),
      results(...ids),
      ...Array.from({ length: 1_000 }, (_, index) => [
        ...textMessage(`${index} `),
        full({ text: `${index} ` }),
      ]).flat(),
    ];
    const turn = buildTurn(foldValues(many));
    expect([turn.messages.length, turn.serverToolCalls.length, turn.toolCalls.length]).toEqual([
      1002, 10_000, 0,
    ]);
    expect(turn.text).toBe(Array.from({ length: 1_000 }, (_, index) => `${index} `).join(""));
    expect(turn.diagnostics).toEqual([]);
  });

  it("A turn above its limit is not read further", () => {
    const values = [
      converseEvent("messageStart", { role: "assistant" }),
      ...Array.from({ length: 100 }, () => textDelta("0123456789", 0)),
    ];
    const turn = buildTurn(foldValues(values, { maxCharacters: 50 }));
    expect(turn.text.length).toBeLessThan(100);
    expect(turn.end).toMatchObject({ outcome: "failed", failure: { code: "turn_too_large" } });
  });
});
