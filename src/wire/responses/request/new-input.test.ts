import { describe, expect, it } from "vitest";
import { refused } from "../../../../test/responses/refused-requests.ts";
import { formatItemId } from "../items/item-id.ts";
import { readOpening, readContinuation } from "./new-input.ts";
import { toPromptParts, toPromptOptions } from "./prompt-parts.ts";
import { readCreateRequest } from "./read-create-request.ts";

const SESSION = "ses_0123456789abcdef0123456789abcdef";
const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: string, more: object = {}) => ({ role: "assistant", content, ...more });
const call = (call_id: string) => ({ type: "function_call", call_id, name: "f", arguments: "{}" });
const result = (call_id: string, more: object = {}) => ({
  type: "function_call_output",
  call_id,
  output: `of ${call_id}`,
  ...more,
});

function continued(input: unknown, open: readonly string[] = [], more: object = {}) {
  const request = readCreateRequest({ input, ...more });
  const { content, results, instructions } = readContinuation(request, new Set(open));
  return {
    said: toPromptParts(content).map((part) => (part.type === "text" ? part.text : part.mediaType)),
    results: results.map(({ callId }) => callId),
    instructions,
  };
}

function codeOf(read: () => unknown): unknown {
  return refused(read)?.code ?? "taken";
}

describe("what is new for a session that knows the rest", () => {
  it("is what stands behind the agent's last word, and nothing from before [OR-37]", () => {
    const input = [user("one"), assistant("two"), user("three")];
    expect(continued(input)).toEqual({ said: ["three"], results: [], instructions: null });
  });

  it("is all messages of the user's, in their order [SD-3]", () => {
    const input = [assistant("a"), user("one"), user("two"), user("three")];
    expect(continued(input).said).toEqual(["one", "two", "three"]);
  });

  it("keeps the parts of a message in their order, texts on lines of their own [SD-8]", () => {
    const input = [
      user([
        { type: "input_text", text: "Look:" },
        { type: "input_text", text: "here" },
        { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" },
        { type: "input_text", text: "and there" },
      ]),
    ];
    expect(continued(input).said).toEqual(["Look:\nhere", "image/png", "and there"]);
  });

  it("tells system and developer messages as instructions, behind those of the request [OR-60, SD-4]", () => {
    const input = [
      { role: "system", content: "A" },
      assistant("x"),
      { role: "developer", content: "B" },
      user("c"),
    ];
    expect(continued(input, [], { instructions: "First" })).toEqual({
      said: ["c"],
      results: [],
      instructions: "First\n\nA\n\nB",
    });
  });

  it.each<[string, unknown, string]>([
    ["nothing", null, "missing_user_message"],
    ["no items", [], "missing_user_message"],
    ["only a system message", [{ role: "system", content: "A" }], "missing_user_message"],
    ["the agent's word last", [user("a"), assistant("b")], "no_new_message"],
    ["an empty text", "", "empty_message"],
    ["blank parts", [user([{ type: "input_text", text: " \n" }])], "empty_message"],
    ["no parts", [user([])], "empty_message"],
  ])("is refused where it is %s [SD-1, SD-2, SD-9]", (_, input, code) => {
    expect(codeOf(() => continued(input))).toBe(code);
  });

  it("is results that were brought, with or without the calls before them [OR-53]", () => {
    expect(continued([result("a"), result("b")], ["a", "b"]).results).toEqual(["a", "b"]);
    const all = [user("x"), call("a"), call("b"), result("b"), result("a"), user("go on")];
    expect(continued(all, ["a", "b"])).toMatchObject({ results: ["b", "a"], said: ["go on"] });
  });

  it("is every open result where each stands behind its own call, and none that was brought before [OR-54]", () => {
    const input = [user("x"), call("a"), result("a"), call("b"), result("b")];
    expect(continued(input, ["a", "b"]).results).toEqual(["a", "b"]);
    expect(continued(input, ["b"]).results).toEqual(["b"]);
  });

  it("keeps a result of no open call, so that it can be refused [OR-53]", () => {
    expect(continued([result("nobody")], ["a"]).results).toEqual(["nobody"]);
  });

  it("does not take outputs that we gave for results", () => {
    const id = formatItemId("function_call_output", SESSION, "9");
    const input = [user("x"), call("a"), result("a", { id }), user("next")];
    expect(continued(input)).toMatchObject({ said: ["next"], results: [] });
  });
});

describe("a conversation that was had elsewhere", () => {
  function begun(input: unknown) {
    return readOpening(readCreateRequest({ input }));
  }

  it("is history before the new words, with a result for every call [SD-5]", () => {
    const { history, content } = begun([
      user("one"),
      call("a"),
      result("a"),
      call("b"),
      assistant("two"),
      { type: "mcp_call", id: "m", name: "g", arguments: '{"x":1}', output: "ok" },
      user("three"),
    ]);
    expect(toPromptParts(content)).toEqual([{ type: "text", text: "three" }]);
    const shape = history.map(({ role, blocks }) => [role, ...blocks.map(({ type }) => type)]);
    expect(shape).toEqual([
      ["user", "text"],
      ["assistant", "tool-call"],
      ["user", "tool-result"],
      ["assistant", "tool-call", "text", "tool-call"],
      ["user", "tool-result", "tool-result"],
    ]);
  });

  it("begins with nothing where there is none", () => {
    expect(begun("hi").history).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ["a result of no call", [result("a"), user("x")], "unknown_call"],
    [
      "a reference to nothing",
      [{ type: "item_reference", id: "msg_1" }, user("x")],
      "item_not_found",
    ],
    ["no new words", [user("x"), assistant("a")], "no_new_message"],
    ["a result last, which nobody waits for", [user("x"), call("a"), result("a")], "unknown_call"],
    [
      "a file",
      [user([{ type: "input_file", file_data: "x" }]), assistant("a"), user("b")],
      "unsupported_content",
    ],
  ])("is refused with %s", (_, input, code) => {
    expect(codeOf(() => begun(input))).toBe(code);
  });
});

describe("content that no agent takes", () => {
  it.each(["input_file", "input_video", "input_audio"])(
    "is refused by its name: %s [OR-62]",
    (type) => {
      const { content } = readContinuation(
        readCreateRequest({ input: [user([{ type }])] }),
        new Set(),
      );
      const thrown = codeOf(() => toPromptParts(content));
      expect(thrown).toBe("unsupported_content");
    },
  );

  it("is a picture by its address, and every picture where none are taken [OR-62]", () => {
    const picture = (image_url: string) => {
      const input = [user([{ type: "input_image", image_url }])];
      return readContinuation(readCreateRequest({ input }), new Set()).content;
    };
    const shown = picture("data:image/png;base64,iVBORw0KGgo=");
    expect(codeOf(() => toPromptParts(picture("https://example.com/a.png")))).toBe(
      "unsupported_content",
    );
    expect(codeOf(() => toPromptParts(shown))).toBe("taken");
  });
});

describe("what a request asks of its turn", () => {
  const facts = { instructions: "I", agentTools: ["fs/read", "search"] };
  const tools = [{ type: "function", name: "weather" }];

  it("is its tools, its limits and its instructions", () => {
    const request = readCreateRequest({ tools, max_output_tokens: 99, max_tool_calls: 2 });
    expect(toPromptOptions(request, facts)).toEqual({
      instructions: "I",
      tools: [{ name: "weather", description: "Weather", schema: { type: "object" } }],
      maxOutputTokens: 99,
      maxToolCalls: 2,
    });
  });

  it.each<[unknown, readonly string[] | undefined]>([
    ["auto", undefined],
    ["none", []],
    [{ type: "function", name: "weather" }, ["weather"]],
    [{ type: "allowed_tools", tools: [{ type: "function", name: "search" }] }, ["search"]],
    [{ type: "allowed_tools", mode: "none", tools: [{ type: "function", name: "search" }] }, []],
  ])("is which tools may be called: %j [OR-57]", (tool_choice, allowedTools) => {
    const request = readCreateRequest({ tools, tool_choice });
    expect(toPromptOptions(request, facts).allowedTools).toEqual(allowedTools);
  });
});
