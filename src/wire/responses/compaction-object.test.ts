import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ModelBlock, ModelMessage } from "../../domain/model/model-request.ts";
import {
  createToolCall,
  createToolError,
  createToolSuccess,
} from "../../domain/tools/tool-call.ts";
import { encodeCompaction, toPackedConversation } from "./compaction-object.ts";
import { packConversation, unpackConversation } from "./request/compaction.ts";
import { readOpening } from "./request/new-input.ts";
import { readCreateRequest } from "./request/read-create-request.ts";

const anyBlock: fc.Arbitrary<ModelBlock> = fc.oneof(
  fc.record({ type: fc.constant("text"), text: fc.string({ unit: "binary" }) }),
  fc.record({ type: fc.constant("reasoning"), text: fc.string(), signature: fc.string() }),
  fc
    .record({
      id: fc.string(),
      name: fc.string(),
      inputText: fc.constantFrom("{}", "[", '{"a":1}'),
    })
    .map((facts) => ({
      type: "tool-call" as const,
      toolCall: createToolCall({ ...facts, runBy: "server" }),
    })),
  fc
    .jsonValue({ maxDepth: 3 })
    .map((value) => ({ type: "tool-result" as const, result: createToolSuccess("c", value) })),
  fc.string().map((text) => ({ type: "tool-result" as const, result: createToolError("c", text) })),
  fc.constant<ModelBlock>({ type: "image", mediaType: "image/png", base64: "iVBORw0KGgo=" }),
);

describe("Compacted conversations", () => {
  it("A conversation is unchanged after packing and unpacking [OR-77]", () => {
    const anyMessages: fc.Arbitrary<ModelMessage[]> = fc.array(
      fc.record({ role: fc.constantFrom("user", "assistant"), blocks: fc.array(anyBlock) }),
    );
    fc.assert(
      fc.property(anyMessages, fc.option(fc.string()), (messages, instructions) => {
        const packed = packConversation({ instructions, messages });
        const json = JSON.parse(JSON.stringify({ instructions, messages }));
        expect(unpackConversation(packed, "x")).toEqual(json);
      }),
    );
  });

  it("A compaction is one item that a request can start with [OR-77]", () => {
    const request = readCreateRequest({
      model: "demo",
      input: [
        { role: "system", content: "Be brief" },
        { role: "user", content: "My name is Ann" },
        { role: "assistant", content: "Hi Ann" },
      ],
    });
    const compacted = encodeCompaction(toPackedConversation(request), 1_750_000_000_500);
    expect(compacted).toMatchObject({
      object: "response.compaction",
      created_at: 1_750_000_000,
      output: [{ type: "compaction", id: expect.stringMatching(/^cmp_/) }],
      usage: { total_tokens: 0 },
    });
    const input = [...compacted.output, { role: "user", content: "Who am I?" }];
    expect(readOpening(readCreateRequest({ input }))).toMatchObject({
      instructions: "Be brief",
      history: [
        { role: "user", blocks: [{ type: "text", text: "My name is Ann" }] },
        { role: "assistant", blocks: [{ type: "text", text: "Hi Ann" }] },
      ],
      content: [{ type: "text", text: "Who am I?" }],
    });
  });

  it("A conversation that could not be unpacked again is not packed [OR-77]", () => {
    const blocks = [
      { type: "tool-result" as const, result: createToolSuccess("c", Array(250_000).fill(0)) },
    ];
    const messages = [{ role: "user" as const, blocks }];
    expect(() => packConversation({ instructions: null, messages })).toThrow(
      "The conversation exceeds the limit of 250000 values, so it cannot be compacted",
    );
  });

  it("A modified compaction is refused", () => {
    const packed = packConversation({ instructions: null, messages: [] });
    for (const text of ["", "spanline1.", `${packed}!`, "spanline1.e30=", packed.slice(0, 15)])
      expect(() => unpackConversation(text, "x"), text).toThrow(
        expect.objectContaining({ details: expect.objectContaining({ param: "x" }) }),
      );
  });
});
