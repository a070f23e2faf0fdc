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

describe("New content for an existing session", () => {
  it("Only content after the last item of the agent is new [OR-37]", () => {
    const input = [user("one"), assistant("two"), user("three")];
    expect(continued(input)).toEqual({ said: ["three"], results: [], instructions: null });
  });

  it("All user messages are new, in their order [SD-3]", () => {
    const input = [assistant("a"), user("one"), user("two"), user("three")];
    expect(continued(input).said).toEqual(["one", "two", "three"]);
  });

  it("The parts of a message keep their order, with texts on separate lines [SD-8]", () => {
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

  it("System and developer messages become instructions after those of the request [OR-60, SD-4]", () => {
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
    ["the agent's message last", [user("a"), assistant("b")], "no_new_message"],
    ["an empty string", "", "empty_message"],
    ["blank parts", [user([{ type: "input_text", text: " \n" }])], "empty_message"],
    ["no parts", [user([])], "empty_message"],
  ])("An input with %s is refused [SD-1, SD-2, SD-9]", (_, input, code) => {
    expect(codeOf(() => continued(input))).toBe(code);
  });

  it("Submitted results are new, with or without their tool calls in the input [OR-53]", () => {
    expect(continued([result("a"), result("b")], ["a", "b"]).results).toEqual(["a", "b"]);
    const all = [user("x"), call("a"), call("b"), result("b"), result("a"), user("go on")];
    expect(continued(all, ["a", "b"])).toMatchObject({ results: ["b", "a"], said: ["go on"] });
  });

  it("Each open result after its own tool call is new, and earlier results are not [OR-54]", () => {
    const input = [user("x"), call("a"), result("a"), call("b"), result("b")];
    expect(continued(input, ["a", "b"]).results).toEqual(["a", "b"]);
    expect(continued(input, ["b"]).results).toEqual(["b"]);
  });

  it("A result without an open tool call is kept, to be refused later [OR-53]", () => {
    expect(continued([result("nobody")], ["a"]).results).toEqual(["nobody"]);
  });

  it("Outputs created by this server are not results of the caller", () => {
    const id = formatItemId("function_call_output", SESSION, "9");
    const input = [user("x"), call("a"), result("a", { id }), user("next")];
    expect(continued(input)).toMatchObject({ said: ["next"], results: [] });
  });
});

describe("Imported conversations", () => {
  function begun(input: unknown) {
    return readOpening(readCreateRequest({ input }));
  }

  it("Earlier messages become history, with a result for every tool call [SD-5]", () => {
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

  it("A request without earlier messages has an empty history", () => {
    expect(begun("hi").history).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ["a result without a tool call", [result("a"), user("x")], "unknown_call"],
    [
      "an unknown reference",
      [{ type: "item_reference", id: "msg_1" }, user("x")],
      "item_not_found",
    ],
    ["no new message", [user("x"), assistant("a")], "no_new_message"],
    [
      "a result last, without an open tool call",
      [user("x"), call("a"), result("a")],
      "unknown_call",
    ],
    [
      "a file",
      [user([{ type: "input_file", file_data: "x" }]), assistant("a"), user("b")],
      "unsupported_content",
    ],
  ])("An imported conversation with %s is refused", (_, input, code) => {
    expect(codeOf(() => begun(input))).toBe(code);
  });
});

describe("Unsupported content", () => {
  it.each(["input_file", "input_video", "input_audio"])(
    "Content of the type %s is refused by name [OR-62]",
    (type) => {
      const { content } = readContinuation(
        readCreateRequest({ input: [user([{ type }])] }),
        new Set(),
      );
      const thrown = codeOf(() => toPromptParts(content));
      expect(thrown).toBe("unsupported_content");
    },
  );

  it("An image by URL is refused, and an image as data is accepted [OR-62]", () => {
    const picture = (image_url: string) => {
      const input = [user([{ type: "input_image", image_url }])];
      return readContinuation(readCreateRequest({ input }), new Set()).content;
    };
    const imagePart = picture("data:image/png;base64,iVBORw0KGgo=");
    expect(codeOf(() => toPromptParts(picture("https://example.com/a.png")))).toBe(
      "unsupported_content",
    );
    expect(codeOf(() => toPromptParts(imagePart))).toBe("taken");
  });
});

describe("Prompt options of a request", () => {
  const facts = { instructions: "I", agentTools: ["fs/read", "search"] };
  const tools = [{ type: "function", name: "weather" }];

  it("Tools, limits and instructions become prompt options", () => {
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
  ])("tool_choice %j sets the allowed tools [OR-57]", (tool_choice, allowedTools) => {
    const request = readCreateRequest({ tools, tool_choice });
    expect(toPromptOptions(request, facts).allowedTools).toEqual(allowedTools);
  });
});
