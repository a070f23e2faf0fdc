import { describe, expect, it } from "vitest";
import { createToolCall, type ToolResultPart } from "../../../domain/tools/tool-call.ts";
import { encodeFunctionCallOutput, encodeReasoning } from "./encode-items.ts";
import { encodeResponse } from "../response-encoder.ts";
import type { ReasoningBlock, ToolResultBlock } from "../../../domain/provider/turn-builder.ts";

const FACTS = { scope: "turn1", status: "completed" } as const;

describe("Function call items", () => {
  it.each([
    { what: "an object", inputText: '{ "q": 1 }', written: '{ "q": 1 }', status: "completed" },
    { what: "nothing", inputText: "", written: "{}", status: "completed" },
    { what: "blanks", inputText: " \n", written: "{}", status: "completed" },
    { what: "cut JSON", inputText: '{"q": "sho', written: '{"q": "sho', status: "incomplete" },
    { what: "an array", inputText: "[1]", written: "[1]", status: "incomplete" },
    { what: "null", inputText: "null", written: "null", status: "incomplete" },
  ])(
    "A function call with $what as arguments is $status and keeps the streamed arguments [SD-30]",
    ({ inputText, written, status }) => {
      const call = createToolCall({ id: "a", name: "search", inputText, runBy: "client" });
      const { items } = encodeResponse(
        [
          { type: "message.start", message: 0, role: "assistant" },
          { type: "tool.end", message: 0, block: 0, toolCall: call },
          {
            type: "end",
            outcome: "action-required",
            reason: "tool_use",
            openToolCallIds: ["a"],
            usage: null,
          },
        ],
        { scope: "turn1" },
      );
      expect(items).toEqual([
        {
          id: "fc_turn1_0",
          type: "function_call",
          call_id: "a",
          name: "search",
          arguments: written,
          status,
        },
      ]);
    },
  );
});

describe("Function call outputs", () => {
  it("The output of a failed tool is completed, with a separate error flag [SD-27]", () => {
    const block = resultBlock([{ type: "text", text: "No such order" }], true);
    expect(encodeFunctionCallOutput(block, { ...FACTS, output: "text" })).toEqual({
      id: "fco_turn1_3",
      type: "function_call_output",
      call_id: "a",
      output: "No such order",
      status: "completed",
      is_error: true,
      error: "No such order",
    });
  });

  const parts: readonly ToolResultPart[] = [
    { type: "text", text: "Found:" },
    { type: "json", value: { b: [1, 2], a: null } },
    { type: "json", value: null },
    { type: "unknown", raw: { image: { format: "png" } } },
  ];

  it("Each part is a separate line, with JSON in canonical form [SD-28]", () => {
    expect(encodeFunctionCallOutput(resultBlock(parts), { ...FACTS, output: "text" })).toEqual({
      id: "fco_turn1_3",
      type: "function_call_output",
      call_id: "a",
      output: 'Found:\n{"a":null,"b":[1,2]}\nnull\n{"image":{"format":"png"}}',
      status: "completed",
    });
  });

  it('With output "parts", the parts stay separate [SD-28]', () => {
    expect(encodeFunctionCallOutput(resultBlock(parts), { ...FACTS, output: "parts" })).toEqual({
      id: "fco_turn1_3",
      type: "function_call_output",
      call_id: "a",
      output: [
        { type: "input_text", text: "Found:" },
        { type: "input_text", text: '{"a":null,"b":[1,2]}' },
        { type: "input_text", text: "null" },
        { type: "input_text", text: '{"image":{"format":"png"}}' },
      ],
      status: "completed",
    });
  });

  it.each([
    { what: "one string", parts: [{ type: "text", text: " as is \n" }], output: " as is \n" },
    { what: "an explicit null", parts: [{ type: "json", value: null }], output: "null" },
    { what: "nothing", parts: [], output: "" },
  ] satisfies { what: string; parts: ToolResultPart[]; output: string }[])(
    "The output is encoded for $what [SD-28]",
    ({ parts: input, output }) => {
      const item = encodeFunctionCallOutput(resultBlock(input), { ...FACTS, output: "text" });
      expect(item).toEqual({
        id: "fco_turn1_3",
        type: "function_call_output",
        call_id: "a",
        output,
        status: "completed",
      });
    },
  );
});

describe("Reasoning items", () => {
  it("Encrypted reasoning is kept unchanged and has no summary [SD-26]", () => {
    expect(reasoning({ text: "", redacted: "c2VjcmV0" })).toEqual({
      id: "rs_turn1_0",
      type: "reasoning",
      status: "completed",
      summary: [],
      encrypted_content: "c2VjcmV0",
    });
  });

  it("The signature is next to the summary [SD-26]", () => {
    expect(reasoning({ text: "Hm.", signature: "sig" })).toEqual({
      id: "rs_turn1_0",
      type: "reasoning",
      status: "completed",
      summary: [{ type: "summary_text", text: "Hm." }],
      signature: "sig",
    });
  });
});

function reasoning(content: Pick<ReasoningBlock, "text" | "signature" | "redacted">): object {
  return encodeReasoning({ key: "0", ...content }, { ...FACTS, raw: false });
}

function resultBlock(parts: readonly ToolResultPart[], isError = false): ToolResultBlock {
  const result = { toolCallId: "a", parts, isError };
  return { key: "3", order: 3, message: 1, kind: "tool-result", ending: "explicit", result };
}
