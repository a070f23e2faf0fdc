import { describe, expect, it } from "vitest";
import { began, ended, logOf, SESSION } from "../../../../test/responses/any-turn.ts";
import { eventProblems } from "../../../../test/responses/open-responses-schema.ts";
import { violationsIn } from "../../../../test/responses/stream-checker.ts";
import type { SessionEvent } from "../../../domain/events/session-event.ts";
import type { ToolEnding } from "../../../domain/events/tool-events.ts";
import { runCodec } from "../../../domain/codec.ts";
import type { Envelope } from "../../../domain/events/envelope.ts";
import { EVENT_MANIFEST } from "../../../domain/events/event-manifest.ts";
import {
  createToolCall,
  createToolError,
  createToolSuccess,
} from "../../../domain/tools/tool-call.ts";
import { formatCallId } from "../response-ids.ts";
import { createUnrecordedRequest, type RecordedRequest } from "../recorded-request.ts";
import { foldResponse, createResponseStream } from "./response-stream.ts";
import type { StreamEvent } from "./response-stream-event.ts";
import { STREAM_RULES } from "./stream-rules.ts";

const RECORDED = createUnrecordedRequest("demo");

function streamOf(log: readonly Envelope[], over: Partial<RecordedRequest> = {}): StreamEvent[] {
  const events = runCodec(createResponseStream({ ...RECORDED, ...over }), log);
  expect(violationsIn(events)).toEqual([]);
  return events;
}

function responseOf(log: readonly Envelope[], over: Partial<RecordedRequest> = {}) {
  const last = streamOf(log, over).at(-1);
  if (last === undefined || !("response" in last)) throw new Error("The stream has no end");
  return last.response;
}

function turn(events: readonly SessionEvent[], end: SessionEvent = ended()): Envelope[] {
  return logOf([...began(), ...events, end]);
}

function message(messageId: string, ...events: readonly SessionEvent[]): SessionEvent[] {
  return [
    { type: "message.started", messageId, role: "assistant" },
    ...events,
    { type: "message.finished", messageId, reason: "end_turn" },
  ];
}

function createText(messageId: string, block: number, text: string): SessionEvent[] {
  const place = { messageId, block };
  return [
    { type: "text.delta", ...place, text: text.slice(0, 2) },
    { type: "text.delta", ...place, text: text.slice(2) },
    { type: "text.finished", ...place, text },
  ];
}

function thought(messageId: string, block: number, text: string): SessionEvent[] {
  return [{ type: "thought.finished", messageId, block, text, signature: "sig" }];
}

function called(toolCallId: string, messageId: string, name = "read"): SessionEvent[] {
  const place = { toolCallId, messageId, block: 9 };
  const call = createToolCall({
    id: "c",
    name,
    inputText: '{"path":"a"}',
    runBy: "client",
    server: "files",
  });
  return [
    { type: "tool_call.opened", ...place, name },
    { type: "tool_call.input.delta", toolCallId, text: '{"path"' },
    { type: "tool_call.input.delta", toolCallId, text: ':"a"}' },
    { type: "tool_call.received", ...place, toolCall: call },
  ];
}

function answered(toolCallId: string, ending: ToolEnding = "succeeded"): SessionEvent {
  const result =
    ending === "succeeded" ? createToolSuccess("c", { b: 1, a: 2 }) : createToolError("c", "no");
  return { type: "tool.finished", toolCallId, ending, result };
}

/** A turn with all kinds of items. */
const TURN = turn([
  ...message(
    "m0",
    ...thought("m0", 0, "Hm."),
    ...createText("m0", 1, "Let me look."),
    ...called("t", "m0"),
  ),
  answered("t"),
  ...message("m1", ...createText("m1", 0, "It is there.")),
]);

const CALL_ID = formatCallId(SESSION, "t");

describe("The stream of a response", () => {
  it("Every event of a session has a rule, and no reason is empty", () => {
    expect(Object.keys(STREAM_RULES).sort()).toEqual(Object.keys(EVENT_MANIFEST).sort());
    for (const { silent, encode } of Object.values(STREAM_RULES))
      expect([silent, encode].filter((value) => value !== undefined && value !== "")).toHaveLength(
        1,
      );
  });

  it("A turn is streamed in the order of the specification [OR-11, OR-14, OR-15, OR-16, OR-25]", () => {
    const events = streamOf(TURN);
    expect(events.flatMap(eventProblems)).toEqual([]);
    expect(events.map(({ type }) => type.replace("response.", ""))).toEqual([
      "created",
      "in_progress",
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.delta",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "output_item.added",
      "function_call_arguments.delta",
      "function_call_arguments.delta",
      "function_call_arguments.done",
      "output_item.done",
      "output_item.added",
      "output_item.done",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "completed",
    ]);
  });

  it("The last event has all items, with the final answer separate from commentary [OR-34, OR-56, OR-59]", () => {
    expect(responseOf(TURN).output).toEqual([
      {
        id: `rs_${SESSION}_9-0`,
        type: "reasoning",
        status: "completed",
        summary: [{ type: "summary_text", text: "Hm." }],
        signature: "sig",
      },
      {
        id: `msg_${SESSION}_9-1`,
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: "Let me look.\n\n", annotations: [] }],
        phase: "commentary",
        session_id: SESSION,
      },
      {
        id: `fc_${SESSION}_14`,
        type: "function_call",
        call_id: CALL_ID,
        name: "read",
        arguments: '{"path":"a"}',
        status: "completed",
      },
      {
        id: `fco_${SESSION}_19`,
        type: "function_call_output",
        call_id: CALL_ID,
        output: '{"a":2,"b":1}',
        status: "completed",
      },
      {
        id: `msg_${SESSION}_20-0`,
        type: "message",
        status: "completed",
        role: "assistant",
        content: [{ type: "output_text", text: "It is there.", annotations: [] }],
        phase: "final_answer",
        session_id: SESSION,
      },
    ]);
  });

  it("Executed tools are shown as MCP calls with OpenAI's events [OR-58]", () => {
    const events = streamOf(TURN, { trace: "mcp" });
    const types = events.map(({ type }) => type).filter((type) => type.includes("mcp_call"));
    expect(types).toEqual([
      "response.mcp_call.in_progress",
      "response.mcp_call_arguments.delta",
      "response.mcp_call_arguments.done",
      "response.mcp_call.completed",
    ]);
    expect(responseOf(TURN, { trace: "mcp" }).output[2]).toEqual({
      id: `mcp_${SESSION}_14`,
      type: "mcp_call",
      server_label: "files",
      name: "read",
      arguments: '{"path":"a"}',
      output: '{"a":2,"b":1}',
      error: null,
      status: "completed",
      approval_request_id: null,
    });
  });

  it("Executed tools are shown as Spanline items, or hidden [OR-24, OR-58]", () => {
    expect(responseOf(TURN, { trace: "extension" }).output[2]).toEqual({
      id: `stc_${SESSION}_14`,
      type: "spanline:tool_call",
      call_id: CALL_ID,
      name: "read",
      server: "files",
      arguments: '{"path":"a"}',
      output: '{"a":2,"b":1}',
      is_error: false,
      error: null,
      ending: "succeeded",
      status: "completed",
    });
    const none = responseOf(TURN, { trace: "none" }).output;
    expect(none.map(({ type }) => type)).toEqual(["reasoning", "message", "message"]);
    const own = ["pairs", "none"] as const;
    for (const trace of own) expect(streamOf(TURN, { trace }).flatMap(eventProblems)).toEqual([]);
  });

  it.each<ToolEnding>(["failed", "denied", "cancelled", "timed-out", "refused", "unknown"])(
    "A tool call that ended as %s is marked as failed [OR-55, SD-27]",
    (ending) => {
      const log = turn([...message("m0", ...called("t", "m0")), answered("t", ending)]);
      const error = { is_error: true, error: "no", ending };
      expect(responseOf(log).output[1]).toMatchObject({
        status: "completed",
        output: "no",
        ...error,
      });
      const mcp = { status: "failed", output: null, error: "no" };
      expect(responseOf(log, { trace: "mcp" }).output[0]).toMatchObject(mcp);
      expect(responseOf(log, { trace: "extension" }).output[0]).toMatchObject(error);
    },
  );

  it("Parallel tool calls keep their order for any order of results [OR-54]", () => {
    const log = turn([
      ...message("m0", ...called("t0", "m0"), ...called("t1", "m0")),
      answered("t1"),
      answered("t0"),
    ]);
    const [one, two] = [formatCallId(SESSION, "t0"), formatCallId(SESSION, "t1")];
    const calls = responseOf(log).output.map((item) => ("call_id" in item ? item.call_id : null));
    expect(calls).toEqual([one, two, two, one]);
  });

  it("A tool call without arguments has an empty object and one delta [OR-8, OR-16]", () => {
    const call = createToolCall({ id: "c", name: "now", inputText: "", runBy: "server" });
    const place = { toolCallId: "t", messageId: "m0", block: 0 };
    const events = streamOf(
      turn(message("m0", { type: "tool_call.received", ...place, toolCall: call })),
    );
    const deltas = events.filter(({ type }) => type.endsWith("arguments.delta"));
    expect(deltas).toMatchObject([{ delta: "{}" }]);
    expect(
      responseOf(turn(message("m0", { type: "tool_call.received", ...place, toolCall: call })))
        .output,
    ).toMatchObject([{ arguments: "{}", status: "completed" }]);
  });

  it("Unreadable arguments are kept and marked as incomplete [SD-30]", () => {
    const call = createToolCall({ id: "c", name: "f", inputText: '{"a":', runBy: "client" });
    const place = { toolCallId: "t", messageId: "m0", block: 0 };
    expect(
      responseOf(turn(message("m0", { type: "tool_call.received", ...place, toolCall: call })))
        .output,
    ).toMatchObject([{ arguments: '{"a":', status: "incomplete" }]);
  });

  it("A tool name that the API does not accept is mapped, with the original name added [OR-64]", () => {
    const log = turn(message("m0", ...called("t", "m0", "fs/read")));
    expect(responseOf(log).output[0]).toMatchObject({
      name: expect.stringMatching(/^fs_read-[0-9a-v]{13}$/),
      original_name: "fs/read",
    });
  });

  it("A turn without text has no message [OR-10]", () => {
    const blank: SessionEvent = { type: "text.finished", messageId: "m0", block: 0, text: "" };
    expect(responseOf(turn(message("m0", blank))).output).toEqual([]);
  });

  it("A log without deltas yields one delta with the whole text", () => {
    const log = TURN.filter(({ event }) => !event.type.endsWith(".delta"));
    const deltas = streamOf(log).flatMap((event) => ("delta" in event ? [event.delta] : []));
    expect(deltas).toEqual(["Hm.", "Let me look.", "\n\n", '{"path":"a"}', "It is there."]);
    expect(responseOf(log)).toEqual(responseOf(TURN));
  });

  it("Two texts of one message are separated by a blank line [OR-59]", () => {
    const log = turn(
      message("m0", ...createText("m0", 0, "First."), ...createText("m0", 1, "Second.")),
    );
    expect(responseOf(log).output).toMatchObject([
      { content: [{ text: "First.\n\n" }, { text: "Second." }], phase: "final_answer" },
    ]);
  });

  it("Withdrawn text stays, marked as withdrawn, and the replacement follows", () => {
    const replaced: SessionEvent = { type: "message.replaced", messageId: "m0", text: "Better." };
    const log = turn(message("m0", ...createText("m0", 0, "Wrong."), replaced));
    expect(responseOf(log).output).toMatchObject([
      { content: [{ text: "Wrong.\n\n" }], withdrawn: true, phase: "commentary" },
      { content: [{ text: "Better." }], phase: "final_answer" },
    ]);
  });

  it("A replacement that continues the sent text is appended, and replaces a message without text", () => {
    const replaced: SessionEvent = {
      type: "message.replaced",
      messageId: "m0",
      text: "Wrong. Not!",
    };
    const finalContent = { content: [{ text: "Wrong. Not!" }], phase: "final_answer" };
    expect(
      responseOf(turn(message("m0", ...createText("m0", 0, "Wrong."), replaced))).output,
    ).toMatchObject([finalContent]);
    expect(responseOf(turn(message("m0", replaced))).output).toMatchObject([finalContent]);
  });

  it("User text sent by the provider is kept [SD-25]", () => {
    const log = turn([
      { type: "message.started", messageId: "u", role: "user" },
      { type: "text.finished", messageId: "u", block: 0, text: "Did I?" },
    ]);
    expect(responseOf(log).output).toEqual([
      {
        id: `msg_${SESSION}_10`,
        type: "message",
        status: "completed",
        role: "user",
        content: [{ type: "input_text", text: "Did I?" }],
      },
    ]);
  });

  it("The caller's state is carried on assistant messages and hides no field", () => {
    const state = { cursor: 7, id: "mine" };
    const [, message] = responseOf(TURN, { state }).output;
    expect(message).toMatchObject({ cursor: 7, id: `msg_${SESSION}_9-1`, session_id: SESSION });
  });
});

describe("The end of a response", () => {
  const text = message("m0", ...createText("m0", 0, "So far"));

  it("A limited turn is incomplete with its reason [OR-5, SD-31]", () => {
    const end = ended({ outcome: "limited", reason: "max_tokens" });
    expect(responseOf(turn(text, end))).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" },
      error: null,
      output: [{ status: "incomplete" }],
    });
  });

  it.each([
    ["max_steps", "max_tool_calls"],
    ["max_tool_calls", "max_tool_calls"],
    ["max_seconds", "timeout"],
  ])("The local limit %s is reported as %s", (reason, expected) => {
    expect(responseOf(turn(text, ended({ outcome: "limited", reason })))).toMatchObject({
      incomplete_details: { reason: expected },
    });
  });

  it("A failed turn ends with an error and the failed response, which keeps the items [OR-5, OR-22, SD-32]", () => {
    const failure = { code: "connection_lost", message: "It broke", details: {} } as const;
    const cut = {
      type: "text.finished",
      messageId: "m0",
      block: 0,
      text: "So f",
      interrupted: true,
    } as const;
    const log = turn(
      [{ type: "message.started", messageId: "m0", role: "assistant" }, cut],
      ended({ outcome: "failed", reason: null, failure }),
    );
    const events = streamOf(log);
    expect(events.at(-2)).toMatchObject({
      type: "error",
      error: { type: "server_error", code: "connection_lost", message: "It broke", param: null },
    });
    expect(events.at(-1)).toMatchObject({ type: "response.failed" });
    expect(responseOf(log)).toMatchObject({
      status: "failed",
      error: { code: "connection_lost", message: "It broke" },
      incomplete_details: null,
      output: [{ status: "incomplete", content: [{ text: "So f" }] }],
    });
    expect(events.flatMap(eventProblems)).toEqual([]);
  });

  it("A cancelled turn and a withdrawn prompt are cancelled responses [OR-5]", () => {
    const stopped = responseOf(turn(text, ended({ outcome: "cancelled" })));
    expect(stopped).toMatchObject({ status: "cancelled", incomplete_details: null, error: null });
    const [accepted] = began();
    if (accepted === undefined) throw new Error("There is one");
    const taken = logOf([accepted, { type: "prompt.withdrawn", promptId: "p", reason: "gone" }]);
    expect(responseOf(taken)).toMatchObject({ status: "cancelled", output: [] });
    expect(responseOf(taken, { isBackground: true })).toMatchObject({ status: "cancelled" });
  });

  it("A log that stops before the end of the turn is a failure [OR-26]", () => {
    expect(responseOf(logOf([...began(), ...text]))).toMatchObject({
      status: "failed",
      error: { code: "incomplete_turn" },
    });
  });

  it("Usage is summed over the invocations of the response [OR-3, SD-33]", () => {
    const usage = {
      inputTokens: 10,
      outputTokens: 5,
      cacheReadTokens: 3,
      cacheWriteTokens: 2,
      totalTokens: 99,
    };
    const usageEvents: SessionEvent[] = [
      { type: "usage.reported", usage, latencyMs: 8 },
      { type: "invocation.finished", invocationId: "k", outcome: "completed", reason: null, usage },
    ];
    expect(responseOf(turn([...text, ...usageEvents]))).toMatchObject({
      usage: {
        input_tokens: 15,
        input_tokens_details: { cached_tokens: 3 },
        output_tokens: 5,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 20,
      },
    });
    expect(responseOf(turn(text))).toMatchObject({ usage: { total_tokens: 0, steps: [] } });
    const endings = [
      { outcome: "limited", reason: "max_tokens" },
      { outcome: "failed", reason: null },
    ] as const;
    const ended = endings.map((ending) => {
      const end = { type: "turn.finished", turnId: "turn_1", usage, steps: 1, ...ending } as const;
      return responseOf(turn([...text, ...usageEvents], end));
    });
    expect(ended).toMatchObject([
      { status: "incomplete", usage: { total_tokens: 20 } },
      { status: "failed", usage: { total_tokens: 20 } },
    ]);
  });

  it("Times are whole seconds, and completed_at is null before the end [OR-2]", () => {
    const first = TURN[0]?.at ?? 0;
    const log = TURN.map((envelope) => ({ ...envelope, at: envelope.at + 999 }));
    expect(responseOf(log)).toMatchObject({ created_at: Math.floor((first + 999) / 1000) });
    const back = TURN.map((envelope, index) => ({ ...envelope, at: first - index * 5000 }));
    const { created_at, completed_at } = responseOf(back);
    expect(completed_at).toBe(created_at);
    const sentResponses = streamOf(TURN).flatMap((event) =>
      "response" in event ? [event.response] : [],
    );
    expect(sentResponses.map(({ completed_at: at }) => at === null)).toEqual([true, true, false]);
  });
});

describe("Client-run tool calls", () => {
  const paused: SessionEvent = { type: "turn.paused", turnId: "turn_1", toolCallIds: ["t"] };
  const first = turn(
    message("m0", ...createText("m0", 0, "One moment."), ...called("t", "m0", "weather")),
    paused,
  );

  it.each(["pairs", "mcp", "extension", "none"] as const)(
    "A paused turn is a completed response with open function calls in the mode %s [OR-53]",
    (trace) => {
      const { status, output } = responseOf(first, { trace, clientTools: ["weather"] });
      expect(status).toBe("completed");
      expect(output).toMatchObject([
        { type: "message", phase: "commentary" },
        { type: "function_call", call_id: CALL_ID, name: "weather", status: "completed" },
      ]);
    },
  );

  it.each(["mcp", "extension", "none"] as const)(
    "Open tool calls are shown as function calls even if they are not recorded as client tools, in the mode %s",
    (trace) => {
      expect(responseOf(first, { trace }).output.at(-1)).toMatchObject({
        type: "function_call",
        call_id: CALL_ID,
        arguments: '{"path":"a"}',
      });
    },
  );

  it("Submitted results continue the turn with a new response [OR-53]", () => {
    const log = logOf(
      [
        { type: "tool_results.submitted", promptId: "r", turnId: "turn_1", toolCallIds: ["t"] },
        answered("t"),
        ...message("m1", ...createText("m1", 0, "It rains.")),
        ended({ usage: null }),
      ],
      40,
    );
    const response = responseOf(log);
    expect(response.id).toBe(`resp_${SESSION}_40`);
    expect(response.output).toMatchObject([{ type: "message", phase: "final_answer" }]);
  });
});

describe("Responses of a session with several turns", () => {
  it("Events of other turns are skipped, and a response starts with its own turn", () => {
    const [accepted, started] = began();
    if (accepted === undefined || started === undefined) throw new Error("There are two");
    const other = { ...ended(), turnId: "turn_0" };
    const before = logOf([accepted, ...message("x", ...createText("x", 0, "Not mine")), other]).map(
      (envelope) => ({ ...envelope, turnId: "turn_0" }),
    );
    const own = logOf([started, ...message("m0", ...createText("m0", 0, "Mine")), ended()], 30);
    expect(responseOf([...before, ...own]).output).toMatchObject([{ content: [{ text: "Mine" }] }]);
  });

  it("A background response is queued, and then runs", () => {
    const events = streamOf(TURN, { isBackground: true });
    expect(events.slice(0, 3)).toMatchObject([
      { type: "response.created", response: { status: "queued" } },
      { type: "response.queued", response: { status: "queued" } },
      { type: "response.in_progress", response: { status: "in_progress" } },
    ]);
    expect(foldResponse(TURN.slice(0, 1), { ...RECORDED, isBackground: true })).toMatchObject({
      status: "queued",
      output: [],
      usage: null,
    });
  });

  it("A running response can be read", () => {
    expect(foldResponse(TURN.slice(0, 6), RECORDED)).toMatchObject({
      status: "in_progress",
      completed_at: null,
      output: [{ type: "reasoning" }],
    });
    expect(foldResponse([], RECORDED)).toBeNull();
  });

  it("No event follows the end of a response", () => {
    const late = logOf(message("m9", ...createText("m9", 0, "Late")), 90);
    expect(streamOf([...TURN, ...late])).toEqual(streamOf(TURN));
  });
});
