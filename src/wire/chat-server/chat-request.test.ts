import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SpanlineError } from "../../domain/errors.ts";
import { toChatPromptOptions, readChatRequest } from "./chat-request.ts";
import { formatCallId } from "../responses/response-ids.ts";
import {
  toChatHistory,
  readChatTurn,
  toChatToolResults,
  type ChatTurnOptions,
} from "./chat-turn.ts";
import { runs } from "../../../test/support/test-depth.ts";

const SESSION = "550e8400-e29b-41d4-a716-446655440000";
const OTHER = "ses_0123456789abcdef0123456789abcdef";
const HI = { role: "user", content: "Hi" };

function turnOf(body: object, options?: ChatTurnOptions) {
  return readChatTurn(readChatRequest(body), options);
}

/** The code and param with which a request is refused. */
function refusal(body: unknown, options?: ChatTurnOptions): unknown {
  try {
    readChatTurn(readChatRequest(body), options);
  } catch (error) {
    if (error instanceof SpanlineError) return [error.details["code"], error.details["param"]];
    throw error;
  }
  throw new Error("The request was not refused");
}

/** The prompt texts sent to the agent, one per message. */
function texts(body: object, options?: ChatTurnOptions): string[] {
  return turnOf(body, options).userMessages.map(({ parts }) =>
    parts.map((part) => (part.type === "text" ? part.text : part.mediaType)).join("|"),
  );
}

function assistant(extra: object = {}) {
  return { role: "assistant", content: "Hello!", ...extra };
}

function calling(...ids: readonly string[]) {
  const calls = ids.map((id) => ({
    id,
    type: "function",
    function: { name: "look", arguments: "" },
  }));
  return { role: "assistant", content: null, tool_calls: calls };
}

describe("New messages of a request", () => {
  it("All user messages after the last assistant message are new, in order [SD-3]", () => {
    const messages = [
      { role: "user", content: "One" },
      assistant({ session_id: SESSION }),
      { role: "user", content: "Two" },
      { role: "user", content: "Three" },
    ];
    expect(texts({ messages })).toEqual(["Two", "Three"]);
    expect(turnOf({ messages }).sessionId).toBe(SESSION);
  });

  it("All user messages are new without an assistant message", () => {
    expect(texts({ messages: [HI, { role: "user", content: "Anybody?" }] })).toEqual([
      "Hi",
      "Anybody?",
    ]);
  });

  it("A request without a user message is refused [SD-1]", () => {
    expect(refusal({ messages: [] })).toEqual(["missing_user_message", "messages"]);
    const system = { role: "system", content: "Be brief" };
    expect(refusal({ messages: [system] })).toEqual(["missing_user_message", "messages"]);
  });

  it("A request that ends with an assistant message is refused: old messages are not sent again [SD-2]", () => {
    expect(refusal({ messages: [HI, assistant({ session_id: SESSION })] })).toEqual([
      "no_new_message",
      "messages[1]",
    ]);
    const later = { role: "system", content: "Be brief" };
    expect(refusal({ messages: [HI, assistant(), later] })).toEqual([
      "no_new_message",
      "messages[1]",
    ]);
  });

  it.each(["", " \n", [], [{ type: "text", text: " " }]])(
    "The empty user content %j is refused [SD-9]",
    (content) => {
      const messages = [HI, { role: "user", content }];
      expect(refusal({ messages })).toEqual(["empty_message", "messages[1].content"]);
    },
  );

  it("System and developer messages become instructions at any position [SD-4]", () => {
    const messages = [
      { role: "system", content: "Be brief." },
      HI,
      assistant({ session_id: SESSION }),
      { role: "developer", content: [{ type: "text", text: "Be kind." }] },
      HI,
    ];
    const turn = turnOf({ messages });
    expect(turn.instructions).toBe("Be brief.\n\nBe kind.");
    expect(turn.userMessages.map(({ index }) => index)).toEqual([4]);
  });

  it("The parts of a message keep their order [SD-8]", () => {
    const url = "data:image/png;base64,iVBORw0KGgo=";
    const content = [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url } },
      { type: "input_text", text: "Be exact." },
    ];
    expect(texts({ messages: [{ role: "user", content }] })).toEqual([
      "What is this?|image/png|Be exact.",
    ]);
  });

  it.each([
    [{ type: "image_url", image_url: { url: "https://example.com/a.png" } }, ".image_url"],
    [{ type: "image_url", image_url: { url: "data:image/bmp;base64,AAAA" } }, ".image_url"],
    [{ type: "file", file: { file_id: "f" } }, ""],
    [{ type: "input_audio", input_audio: {} }, ""],
  ])("Unsupported content is refused with its position: %j [SD-8] [OR-62]", (part, place) => {
    expect(refusal({ messages: [{ role: "user", content: [part] }] })).toEqual([
      "unsupported_content",
      `messages[0].content[0]${place}`,
    ]);
  });
});

describe("The session of a request", () => {
  it.each([
    ["the newest assistant message", [HI, assistant({ session_id: SESSION }), HI], {}],
    ["an older one", [HI, assistant({ session_id: SESSION }), HI, assistant(), HI], {}],
    [
      "a part of its content",
      [HI, { role: "assistant", content: [{ type: "text", text: "x", session_id: SESSION }] }, HI],
      {},
    ],
    ["the request itself", [HI], { session_id: SESSION }],
    ["its metadata", [HI], { metadata: { session_id: SESSION } }],
  ])("The session id is read from %s [SD-6] [OR-32]", (_, messages, fields) => {
    expect(turnOf({ messages, ...fields }).sessionId).toBe(SESSION);
  });

  it("Two different session ids are refused [SD-6] [OR-33]", () => {
    const messages = [
      HI,
      assistant({ session_id: OTHER }),
      HI,
      assistant({ session_id: SESSION }),
      HI,
    ];
    expect(refusal({ messages })).toEqual(["conflicting_session", "messages[3].session_id"]);
    expect(refusal({ messages: messages.slice(2), session_id: OTHER })).toEqual([
      "conflicting_session",
      "messages[1].session_id",
    ]);
  });

  it.each([
    ["short", "invalid_session_id"],
    ["x".repeat(257), "invalid_session_id"],
    [`_${"x".repeat(40)}`, "invalid_session_id"],
    [`${"x".repeat(40)}\n`, "invalid_session_id"],
    [12, "invalid_type"],
  ])(
    "The session id %j is refused before any request is sent [SD-7] [OR-35]",
    (session_id, code) => {
      const messages = [HI, assistant({ session_id }), HI];
      expect(refusal({ messages })).toEqual([code, "messages[1].session_id"]);
    },
  );

  it("An assistant message without a session id, or with an empty id, names no session [SD-5]", () => {
    for (const extra of [{}, { session_id: "" }, { session_id: null }]) {
      expect(turnOf({ messages: [HI, assistant(extra), HI] }).sessionId).toBeNull();
    }
  });
});

describe("Conversations of another system", () => {
  it("An imported conversation is a history with tool calls and results, and the rest is new [SD-5] [OR-38]", () => {
    const messages = [
      { role: "system", content: "Be brief" },
      HI,
      calling("a"),
      { role: "tool", tool_call_id: "a", content: "rain" },
      assistant(),
      { role: "user", content: "Thanks. And tomorrow?" },
    ];
    const turn = turnOf({ messages });
    expect(turn.userMessages.map(({ index: at }) => at)).toEqual([5]);
    expect(toChatHistory(turn.earlierMessages)).toMatchObject([
      { role: "user", blocks: [{ type: "text", text: "Hi" }] },
      {
        role: "assistant",
        blocks: [{ type: "tool-call", toolCall: { id: "a", name: "look", input: {} } }],
      },
      {
        role: "user",
        blocks: [{ type: "tool-result", result: { toolCallId: "a", isError: false } }],
      },
      { role: "assistant", blocks: [{ type: "text", text: "Hello!" }] },
    ]);
  });

  it("Results of imported tool calls are history, and are refused without a following message", () => {
    const result = { role: "tool", tool_call_id: "a", content: "rain" };
    const turn = turnOf({ messages: [HI, calling("a"), result, HI] });
    expect([turn.earlierMessages.length, turn.results, turn.userMessages.length]).toEqual([
      3,
      [],
      1,
    ]);
    expect(refusal({ messages: [HI, calling("a"), result] })).toEqual([
      "unknown_call",
      "messages[2].tool_call_id",
    ]);
  });
});

describe("Results of tool calls [OR-68]", () => {
  const findSession = (id: string) => (id.startsWith("call_") ? SESSION : undefined);
  const result = (id: string) => ({
    role: "tool",
    tool_call_id: id,
    content: [{ type: "text", text: "ok" }],
  });

  it("Results belong to the session of their tool call, even if nothing else names the session [OR-32]", () => {
    const messages = [HI, calling("call_1", "call_2"), result("call_2"), result("call_1"), HI];
    const turn = turnOf({ messages }, { findSession });
    expect(turn).toMatchObject({
      sessionId: SESSION,
      results: [
        { callId: "call_2", text: "ok" },
        { callId: "call_1", text: "ok" },
      ],
      userMessages: [{ index: 4 }],
    });
  });

  it("Results are submitted with the session's own tool call ids, which must be open [OR-53]", () => {
    const [one, two] = ["tooluse_1", "tooluse_2"].map((id) => formatCallId(SESSION, id));
    const open = { sessionId: SESSION, toolCallIds: ["tooluse_1", "tooluse_2"] };
    const readResults = (messages: object[]) => toChatToolResults(turnOf({ messages }), open);
    const assistantMessage = { ...calling(one ?? "", two ?? ""), session_id: SESSION };
    const taken = ["tooluse_1", "tooluse_2"].map((toolCallId) => ({
      toolCallId,
      parts: [{ type: "text", text: "ok" }],
      isError: false,
    }));
    expect(readResults([HI, assistantMessage, result(one ?? ""), result(two ?? "")])).toEqual(
      taken,
    );
    // Some clients send each result directly after its tool call.
    const apart = [one, two].flatMap((id = "") => [
      { ...calling(id), session_id: SESSION },
      result(id),
    ]);
    expect(readResults([HI, ...apart])).toEqual(taken);
    expect(() => readResults([HI, assistantMessage, result(one ?? "")])).toThrow(
      `The tool call "${two}" has no result`,
    );
    const other = { ...calling("call_1"), session_id: SESSION };
    expect(() => readResults([HI, other, result("call_1")])).toThrow(
      "messages[2].tool_call_id does not match a tool call",
    );
  });

  it("A result without a tool call and a second result for one tool call are refused", () => {
    const named = { ...calling("call_1"), session_id: SESSION };
    expect(refusal({ messages: [HI, named, result("x")] }, { findSession })).toEqual([
      "unknown_call",
      "messages[2].tool_call_id",
    ]);
    expect(refusal({ messages: [HI, named, result("call_1"), result("call_1")] })).toEqual([
      "duplicate_result",
      "messages[3].tool_call_id",
    ]);
  });

  it("A result for a tool call of a different session is refused [OR-33]", () => {
    const named = { ...calling("call_1"), session_id: OTHER };
    expect(refusal({ messages: [HI, named, result("call_1")] }, { findSession })).toEqual([
      "conflicting_session",
      "messages[2].tool_call_id",
    ]);
  });
});

describe("Other fields of a request", () => {
  it("Supported fields are read, and fields without effect are listed [SD-10] [OR-63]", () => {
    const parameters = { type: "object", properties: { city: { type: "string" } } };
    const request = readChatRequest({
      model: "demo",
      messages: [{ ...HI, name: "ada", anything: 1 }],
      tools: [{ type: "function", function: { name: "look", description: "Looks", parameters } }],
      tool_choice: { type: "function", function: { name: "look" } },
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 5,
      max_completion_tokens: 7,
      user: "ada",
      metadata: { run: "1" },
      temperature: 0,
      response_format: { type: "json_object" },
      top_p: null,
      made_up: true,
    });
    expect(request).toMatchObject({
      model: "demo",
      stream: true,
      includeUsage: true,
      ignored: ["temperature", "response_format", "made_up"],
    });
    expect(toChatPromptOptions(request, "Be brief")).toEqual({
      instructions: "Be brief",
      tools: [{ name: "look", description: "Looks", schema: parameters }],
      allowedTools: ["look"],
      maxOutputTokens: 7,
    });
  });

  it("Fields with a default value are not listed as ignored", () => {
    const body = { messages: [HI], response_format: { type: "text" }, n: 1 };
    expect(readChatRequest(body).ignored).toEqual([]);
    expect(toChatPromptOptions(readChatRequest(body), undefined)).toEqual({});
  });

  it('tool_choice "none" forbids tools, and "required" is refused [OR-57]', () => {
    const tools = [{ type: "function", function: { name: "look" } }];
    const none = readChatRequest({ messages: [HI], tools, tool_choice: "none" });
    expect(toChatPromptOptions(none, undefined).allowedTools).toEqual([]);
    expect(refusal({ messages: [HI], tools, tool_choice: "required" })).toEqual([
      "unsupported_tool_choice",
      "tool_choice",
    ]);
  });

  it.each([
    [null, "invalid_type", "body"],
    [{}, "missing_required_parameter", "messages"],
    [{ messages: "Hi" }, "invalid_type", "messages"],
    [{ messages: [7] }, "invalid_type", "messages[0]"],
    [{ messages: [{ role: "robot", content: "x" }] }, "invalid_value", "messages[0].role"],
    [{ messages: [{ role: "user" }] }, "missing_required_parameter", "messages[0].content"],
    [{ messages: [HI], n: 2 }, "unsupported_parameter", "n"],
    [{ messages: [HI], functions: [] }, "unsupported_parameter", "functions"],
    [{ messages: [HI], stream: "yes" }, "invalid_type", "stream"],
    [{ messages: [HI], max_tokens: 0 }, "invalid_type", "max_tokens"],
    [{ messages: [HI], tools: [{ type: "web" }] }, "invalid_value", "tools[0]"],
    [{ messages: [HI], metadata: { a: 1 } }, "invalid_type", "metadata.a"],
    [{ messages: Array.from({ length: 10_001 }, () => HI) }, "too_large", "messages"],
    [{ messages: [HI, assistant({ memory: "x".repeat(70_000) }), HI] }, "too_large", "messages[1]"],
  ])("An invalid field is refused by name: %j", (body, code, param) => {
    expect(refusal(body)).toEqual([code, param]);
  });

  it("State attached to the last assistant message is returned, without our own fields", () => {
    const text = `{"cursor": 7, "__proto__": {"polluted": true}, "trace": [], "id": "msg_1", "status": "completed"}`;
    const last = { ...assistant({ session_id: SESSION }), ...JSON.parse(text) };
    const { state } = turnOf({ messages: [HI, assistant({ old: 1 }), HI, last, HI] });
    expect(JSON.stringify(state)).toBe(`{"cursor":7,"__proto__":{"polluted":true}}`);
    expect(Object.getPrototypeOf(state)).toBe(Object.prototype);
  });

  /** Rethrows any error other than a refusal. */
  function attempt(body: object): unknown {
    try {
      return toChatHistory(turnOf(body).earlierMessages);
    } catch (error) {
      if (error instanceof SpanlineError && typeof error.details["code"] === "string")
        return "refused";
      throw error;
    }
  }

  it("Random requests cause no errors other than refusals", () => {
    const field = fc.oneof(fc.jsonValue(), fc.constantFrom("user", "assistant", "tool", "system"));
    const message = fc.record(
      { role: field, content: field, tool_calls: field, tool_call_id: field, session_id: field },
      { requiredKeys: ["role"] },
    );
    const body = fc.record(
      {
        messages: fc.oneof(fc.array(message, { maxLength: 5 }), fc.jsonValue()),
        tools: fc.jsonValue(),
        tool_choice: fc.jsonValue(),
        metadata: fc.jsonValue(),
        stream_options: fc.jsonValue(),
      },
      { requiredKeys: ["messages"] },
    );
    fc.assert(
      fc.property(body, (input) => {
        const turn = attempt(input);
        return turn === "refused" || Array.isArray(turn);
      }),
      { numRuns: runs(2000) },
    );
  });
});
