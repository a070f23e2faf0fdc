import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import OpenAI from "openai";
import { VERSION } from "openai/version";
import { describe, expect, it, onTestFinished } from "vitest";
import type { SessionEvent } from "../../domain/events/session-event.ts";
import type { TurnFinished } from "../../domain/events/turn-events.ts";
import { runCodec } from "../../domain/codec.ts";
import type { Envelope } from "../../domain/events/envelope.ts";
import { EVENT_MANIFEST } from "../../domain/events/event-manifest.ts";
import {
  createToolCall,
  createToolError,
  createToolSuccess,
} from "../../domain/tools/tool-call.ts";
import { addUsage, type Usage } from "../../domain/usage.ts";
import { isChatError, type ChatOutput } from "./chat-chunk.ts";
import { createChunkEncoder } from "./chunk-encoder.ts";
import { CHUNK_RULES } from "./chunk-rules.ts";
import { collectCompletion } from "./chat-completion.ts";
import type { ChunkOptions } from "./chunk-state.ts";

const SESSION = "ses_0123456789abcdef0123456789abcdef";
const OPTIONS: ChunkOptions = {
  sessionId: SESSION,
  model: "demo",
  includeUsage: true,
  formatCallId: (id) => `call_${SESSION}_${id}`,
};
const USAGE = {
  inputTokens: 10,
  outputTokens: 4,
  cacheReadTokens: 3,
  cacheWriteTokens: 2,
  totalTokens: 19,
};
const COUNTED = {
  prompt_tokens: 15,
  completion_tokens: 4,
  total_tokens: 19,
  prompt_tokens_details: { cached_tokens: 3 },
  completion_tokens_details: { reasoning_tokens: 0 },
};

/** A log which starts with an event other than the first of its session. */
function logOf(events: readonly SessionEvent[], turnId = "t"): Envelope[] {
  return events.map((event, at) => ({
    sessionId: SESSION,
    seq: 7 + at,
    at: 1_700_000_000_900 + at,
    ...(event.type !== "prompt.accepted" && { turnId }),
    visibility: "public",
    event,
  }));
}

const ACCEPTED: SessionEvent = {
  type: "prompt.accepted",
  promptId: "p",
  content: [{ type: "text", text: "Hi" }],
};
const BEGUN: readonly SessionEvent[] = [
  ACCEPTED,
  { type: "turn.started", turnId: "t", promptId: "p" },
];

function finished(turn: Partial<TurnFinished> = {}): SessionEvent {
  return {
    type: "turn.finished",
    turnId: "t",
    outcome: "completed",
    reason: "end_turn",
    usage: null,
    steps: 1,
    ...turn,
  };
}

function says(messageId: string, ...pieces: readonly string[]): SessionEvent[] {
  return [
    { type: "message.started", messageId, role: "assistant" },
    ...pieces.map((text): SessionEvent => ({ type: "text.delta", messageId, block: 0, text })),
    { type: "text.finished", messageId, block: 0, text: pieces.join("") },
  ];
}

function calls(
  toolCallId: string,
  messageId = "m1",
  inputText = `{"city":"Bergen"}`,
): SessionEvent[] {
  const call = createToolCall({ id: "provider-1", name: "look", inputText, runBy: "client" });
  return [
    { type: "tool_call.opened", toolCallId, messageId, block: 1, name: "look" },
    { type: "tool_call.received", toolCallId, messageId, block: 1, toolCall: call },
  ];
}

/** One invocation with its reported usage. */
function createUsageEvent(usage: Usage): SessionEvent {
  return {
    type: "invocation.finished",
    invocationId: "c",
    outcome: "completed",
    reason: null,
    usage,
  };
}

function ends(toolCallId: string): SessionEvent {
  return {
    type: "tool.finished",
    toolCallId,
    ending: "succeeded",
    result: createToolSuccess("provider-1", { sky: "rain" }),
  };
}

const TOOL_TURN: readonly SessionEvent[] = [
  ...BEGUN,
  ...says("m1", "Let me ", "look."),
  ...calls("tool_1"),
  { type: "usage.reported", usage: USAGE },
  ends("tool_1"),
  ...says("m2", "It rains."),
  finished(),
];

const TRACE = [
  {
    id: `fc_${SESSION}_13`,
    type: "function_call",
    call_id: `call_${SESSION}_tool_1`,
    name: "look",
    arguments: `{"city":"Bergen"}`,
    status: "completed",
  },
  {
    id: `fco_${SESSION}_16`,
    type: "function_call_output",
    call_id: `call_${SESSION}_tool_1`,
    output: `{"sky":"rain"}`,
    status: "completed",
  },
];

function encoded(
  events: readonly SessionEvent[],
  options: Partial<ChunkOptions> = {},
): ChatOutput[] {
  return runCodec(createChunkEncoder({ ...OPTIONS, ...options }), logOf(events));
}

describe("A streamed chat completion", () => {
  it("The first chunk names role and session, and the last chunks have reason and usage [OR-65]", () => {
    const head = {
      id: `chatcmpl_${SESSION}_7`,
      object: "chat.completion.chunk",
      created: 1_700_000_000,
      model: "demo",
    };
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
      usage: null,
    });
    const events = [
      ...BEGUN,
      ...says("m1", "Hel", "lo"),
      { type: "usage.reported", usage: USAGE } as const,
      finished(),
    ];
    expect(encoded(events)).toEqual([
      chunk({ role: "assistant", content: "", session_id: SESSION }),
      chunk({ content: "Hel" }),
      chunk({ content: "lo" }),
      chunk({}, "stop"),
      { ...head, choices: [], usage: COUNTED },
    ]);
    expect(encoded(events, { includeUsage: false }).filter((one) => "usage" in one)).toEqual([]);
  });

  it("Executed tools are in the trace and never tool calls for the client [OR-66]", () => {
    const outputs = encoded(TOOL_TURN);
    expect(JSON.stringify(outputs)).not.toContain("tool_calls");
    expect(collectCompletion(outputs)).toEqual({
      id: `chatcmpl_${SESSION}_7`,
      object: "chat.completion",
      created: 1_700_000_000,
      model: "demo",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: "Let me look.\n\nIt rains.",
            refusal: null,
            session_id: SESSION,
            trace: [
              { type: "text", text: "Let me look." },
              ...TRACE,
              { type: "text", text: "It rains." },
            ],
          },
          logprobs: null,
          finish_reason: "stop",
        },
      ],
      usage: COUNTED,
    });
    expect(JSON.stringify(encoded(TOOL_TURN, { trace: "none" }))).not.toContain("trace");
  });

  it("Client-run tool calls are sent with ids that identify their session [OR-66] [OR-67]", () => {
    const events = [
      ...BEGUN,
      ...calls("tool_1"),
      ends("tool_1"),
      ...calls("tool_2", "m2", ""),
      ...calls("tool_3", "m2"),
      createUsageEvent(USAGE),
      { type: "turn.paused", turnId: "t", toolCallIds: ["tool_2", "tool_3"] } as const,
      // Logged after the pause, so part of the next response.
      ...says("m3", "Later"),
    ];
    const call = (id: string, input: string) => ({
      id: `call_${SESSION}_${id}`,
      type: "function",
      function: { name: "look", arguments: input },
    });
    expect(collectCompletion(encoded(events))).toMatchObject({
      choices: [
        {
          message: {
            content: null,
            tool_calls: [call("tool_2", "{}"), call("tool_3", `{"city":"Bergen"}`)],
            trace: [{ call_id: `call_${SESSION}_tool_1` }, { output: `{"sky":"rain"}` }],
          },
          finish_reason: "tool_calls",
        },
      ],
      usage: COUNTED,
    });
  });

  it("A failed turn includes its trace so far [SD-15]", () => {
    const failed = finished({ outcome: "failed", reason: null });
    const outputs = encoded([...TOOL_TURN.slice(0, -1), failed]);
    expect(collectCompletion(outputs)).toMatchObject({
      error: { code: "agent_failed" },
      partial: { trace: expect.arrayContaining([expect.objectContaining({ name: "look" })]) },
    });
  });

  it("A turn continues after submitted results without repeating their tool calls [OR-68]", () => {
    const events: SessionEvent[] = [
      { type: "tool_results.submitted", promptId: "p2", turnId: "t", toolCallIds: ["tool_2"] },
      ends("tool_2"),
      ...says("m4", "Thanks."),
      createUsageEvent(USAGE),
      finished({ usage: addUsage(USAGE, USAGE) }),
    ];
    expect(collectCompletion(encoded(events))).toMatchObject({
      id: `chatcmpl_${SESSION}_7`,
      choices: [{ message: { content: "Thanks." }, finish_reason: "stop" }],
      // Without the usage of the previous response, which was already reported.
      usage: COUNTED,
    });
    expect(JSON.stringify(encoded(events))).not.toContain("trace");
  });

  it.each([
    ["completed", "end_turn", "stop"],
    ["limited", "max_tokens", "length"],
    ["limited", "max_output_tokens_exceeded", "length"],
    ["limited", "max_steps", "length"],
    ["limited", "content_filtered", "content_filter"],
    ["limited", "guardrail_intervened", "content_filter"],
  ] as const)(
    "A turn that is %s by %s has the finish reason %s [OR-67]",
    (outcome, reason, expected) => {
      expect(collectCompletion(encoded([...BEGUN, finished({ outcome, reason })]))).toMatchObject({
        choices: [{ finish_reason: expected }],
      });
    },
  );

  it("A failed turn ends with an error in OpenAI's format after its text [OR-22]", () => {
    const failure = {
      code: "connection_lost",
      message: "The connection broke",
      details: {},
    } as const;
    const outputs = encoded([
      ...BEGUN,
      ...says("m1", "Hel"),
      finished({ outcome: "failed", reason: null, failure }),
    ]);
    const error = {
      message: "The connection broke",
      type: "server_error",
      param: null,
      code: "connection_lost",
    };
    expect(outputs.slice(1)).toMatchObject([
      { choices: [{ delta: { content: "Hel" } }] },
      { error },
    ]);
    const partial = { role: "assistant", content: "Hel", refusal: null, session_id: SESSION };
    expect(collectCompletion(outputs)).toEqual({ error, partial });
  });

  it.each([
    ["cancelled", [...BEGUN, finished({ outcome: "cancelled", reason: null })], "cancelled"],
    [
      "withdrawn",
      [ACCEPTED, { type: "prompt.withdrawn", promptId: "p", reason: "asked" } as const],
      "cancelled",
    ],
    ["truncated", [...BEGUN, ...says("m1", "Hel")], "incomplete_turn"],
  ])("A turn that was %s never looks complete", (_, events, code) => {
    expect(encoded(events).at(-1)).toMatchObject({ error: { code } });
    expect(encoded(events).filter(isChatError)).toHaveLength(1);
  });

  it("State is carried under any name and replaces no field of the message", () => {
    const state = JSON.parse(`{"cursor":7,"__proto__":{"polluted":true},"role":"user"}`);
    const made = collectCompletion(
      encoded([...BEGUN, ...says("m1", "Hello"), finished()], { state }),
    );
    if (isChatError(made)) throw new Error("The result is not a completion");
    const [{ message }] = made.choices;
    expect(JSON.stringify(message)).toContain(`"cursor":7,"__proto__":{"polluted":true}`);
    expect([message.role, message.session_id]).toEqual(["assistant", SESSION]);
  });

  it("Only assistant text of the own turn is included, and a failed tool is marked as failed [OR-55]", () => {
    const other: Envelope[] = logOf(
      [...says("x", "Not this"), finished({ turnId: "before" })],
      "before",
    );
    const [accepted, started, ...rest] = logOf([
      ...BEGUN,
      { type: "message.started", messageId: "u", role: "user" },
      { type: "text.finished", messageId: "u", block: 0, text: "Nor this" },
      ...calls("tool_1"),
      {
        type: "tool.finished",
        toolCallId: "tool_1",
        ending: "failed",
        result: createToolError("1", "No net"),
      },
      ...says("m1", "Mine"),
      finished(),
    ]);
    const log = [accepted, ...other, started, ...rest].filter((one) => one !== undefined);
    expect(collectCompletion(runCodec(createChunkEncoder(OPTIONS), log))).toMatchObject({
      choices: [
        {
          message: {
            content: "Mine",
            trace: [{}, { output: "No net", is_error: true, ending: "failed" }],
          },
        },
      ],
    });
  });

  it("The trace shows the ending of a tool call that was not run [OR-55]", () => {
    const denied = {
      type: "tool.finished",
      toolCallId: "tool_1",
      ending: "denied",
      result: createToolSuccess("1", "Nobody allowed it"),
    } as const;
    const events = [...BEGUN, ...calls("tool_1"), denied, ...says("m1", "No"), finished()];
    expect(collectCompletion(encoded(events))).toMatchObject({
      choices: [{ message: { trace: [{}, { is_error: true, ending: "denied" }] } }],
    });
  });

  it("The replacement of a message follows the text already sent", () => {
    const events: SessionEvent[] = [
      ...BEGUN,
      { type: "message.started", messageId: "m1", role: "assistant" },
      { type: "text.delta", messageId: "m1", block: 0, text: "Bad" },
      { type: "message.replaced", messageId: "m1", text: "I cannot say that." },
      { type: "text.finished", messageId: "m1", block: 0, text: "Bad words" },
      finished(),
    ];
    expect(collectCompletion(encoded(events))).toMatchObject({
      choices: [{ message: { content: "Bad\n\nI cannot say that." } }],
    });
  });

  it.each([["m1"], ["m2"], ["m1", "m2"]])(
    "The completion is the same after the deltas of %s were removed from the log [OR-18]",
    (...dropped) => {
      const remainingEvents = logOf(TOOL_TURN).filter(
        ({ event }) => event.type !== "text.delta" || !dropped.includes(event.messageId),
      );
      const again = collectCompletion(runCodec(createChunkEncoder(OPTIONS), remainingEvents));
      expect(again).toEqual(collectCompletion(encoded(TOOL_TURN)));
    },
  );

  it("Every event has a rule that encodes it or gives a reason for silence", () => {
    expect(Object.keys(CHUNK_RULES).sort()).toEqual(Object.keys(EVENT_MANIFEST).sort());
    for (const { silent, encode } of Object.values(CHUNK_RULES)) {
      expect((silent === undefined) !== (encode === undefined)).toBe(true);
    }
  });
});

describe(`openai ${VERSION}`, () => {
  async function serving(outputs: readonly ChatOutput[]): Promise<string> {
    const server = createServer((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      for (const output of outputs) response.write(`data: ${JSON.stringify(output)}\n\n`);
      response.end("data: [DONE]\n\n");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  }

  const chatRequest = { model: "demo", messages: [{ role: "user", content: "Hi" }] } as const;
  const PAUSED = [
    ...BEGUN,
    ...says("m1", "One moment."),
    ...calls("tool_2"),
    ...calls("tool_3", "m1", ""),
    { type: "turn.paused", turnId: "t", toolCallIds: ["tool_2", "tool_3"] } as const,
  ];

  it.each([
    ["with a tool run", TOOL_TURN],
    ["waiting for client-run tool calls", PAUSED],
  ])("The client's completion of a turn %s equals ours [OR-18] [OR-65]", async (_, events) => {
    const outputs = encoded(events, { state: { cursor: { at: 7 } } });
    const client = new OpenAI({ apiKey: "k", baseURL: await serving(outputs), maxRetries: 0 });
    const made = await client.chat.completions
      .stream({ ...chatRequest, messages: [...chatRequest.messages], stream: true })
      .finalChatCompletion();
    const ours = collectCompletion(outputs);
    expect(plain(made)).toEqual(plain(ours));
  });

  it("The client throws the error of a failed turn, with its code", async () => {
    const outputs = encoded([...BEGUN, finished({ outcome: "failed", reason: "boom" })]);
    const client = new OpenAI({ apiKey: "k", baseURL: await serving(outputs), maxRetries: 0 });
    const made = client.chat.completions
      .stream({ ...chatRequest, messages: [...chatRequest.messages], stream: true })
      .finalChatCompletion();
    await expect(made).rejects.toMatchObject({ code: "agent_failed", type: "server_error" });
  });

  /** The client adds parsed values and omits null. */
  function plain(completion: unknown): unknown {
    return JSON.parse(
      JSON.stringify(completion, (key, value: unknown) =>
        key === "parsed" ||
        key === "parsed_arguments" ||
        (key === "content" && value === "") ||
        value === null
          ? undefined
          : value,
      ),
    );
  }
});
