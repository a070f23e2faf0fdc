import { describe, expect, it } from "vitest";
import { createToolCall } from "../tools/tool-call.ts";
import {
  estimateMessagesTokens,
  estimateTextTokens,
  type CountedMessage,
} from "./estimate-tokens.ts";

type Block = CountedMessage["blocks"][number];

const toolCall = createToolCall({
  id: "call_1",
  name: "read_file",
  inputText: '{"path":"src/a.ts"}',
  runBy: "client",
});
const withResult = (
  ...parts: Extract<Block, { type: "tool-result" }>["result"]["parts"]
): Block => ({
  type: "tool-result",
  result: { toolCallId: "call_1", parts, isError: false },
});
const PDF = { document: { format: "pdf", name: "a", source: { bytes: "JVBERi0=" } } };

/** The exact tokens of each kind of block, without the 4 tokens of its message. */
const BLOCKS: readonly (readonly [kind: string, block: Block, tokens: number])[] = [
  ["text", { type: "text", text: "eight ch" }, 2],
  ["text with a started token", { type: "text", text: "nine char" }, 3],
  ["text outside of ASCII", { type: "text", text: "日本語 ok" }, 4],
  ["empty text", { type: "text", text: "" }, 0],
  // 9 characters of the name, and 19 of the arguments.
  ["a tool call", { type: "tool-call", toolCall }, 3 + 5],
  ["a tool result with text", withResult({ type: "text", text: "x".repeat(400) }), 100],
  ["a tool result with JSON", withResult({ type: "json", value: { count: [1, 2] } }), 4],
  // Models receive documents of tool results as JSON.
  [
    "a tool result with a document",
    withResult({ type: "unknown", raw: PDF }),
    Math.ceil(JSON.stringify(PDF).length / 4),
  ],
  [
    "a tool result with several parts",
    withResult({ type: "text", text: "abcd" }, { type: "json", value: 12345 }),
    1 + 2,
  ],
  ["a failed tool result without content", withResult(), 0],
  ["an image", { type: "image", mediaType: "image/png", base64: "iVBORw0KGgo=" }, 1600],
  ["a stored image", { type: "image", mediaType: "image/png", blobId: "img_1", bytes: 9 }, 1600],
  ["reasoning", { type: "reasoning", text: "think of it", signature: "s".repeat(400) }, 3],
  ["redacted reasoning", { type: "reasoning", text: "", redacted: "r".repeat(40) }, 10],
  // A document of a prompt is text with its address.
  [
    "a document",
    { type: "text", text: '<resource uri="file:///a.md" name="a.md">\n# A\n</resource>' },
    15,
  ],
];

describe("The estimate of tokens", () => {
  it.each(BLOCKS)("A message with %s has an exact number of tokens [W-44]", (_, block, tokens) => {
    expect(estimateMessagesTokens([{ role: "user", blocks: [block] }])).toBe(4 + tokens);
  });

  it("A conversation has the tokens of all its blocks and messages [W-44]", () => {
    const blocks = BLOCKS.map(([, block]) => block);
    const total = BLOCKS.reduce((sum, [, , tokens]) => sum + tokens, 0);
    const message = { role: "assistant", blocks } as const;
    expect(estimateMessagesTokens([message, message, { role: "user", blocks: [] }])).toBe(
      2 * total + 3 * 4,
    );
  });

  it("A character which needs two UTF-16 units counts as two tokens", () => {
    expect(estimateTextTokens("😀")).toBe(2);
  });
});
