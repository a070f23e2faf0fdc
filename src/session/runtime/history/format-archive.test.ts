import { describe, expect, it } from "vitest";
import { createToolCall, createToolSuccess } from "../../../domain/tools/tool-call.ts";
import { formatArchive, shortenOutput } from "./format-archive.ts";

describe("The text of archived messages for a summary", () => {
  it("Messages, tool calls, results and images are named, and reasoning is left out", () => {
    const call = createToolCall({ id: "c1", name: "read", inputText: '{"a":1}', runBy: "client" });
    const image = { type: "image", mediaType: "image/png", base64: "AAAA" } as const;
    const parts = formatArchive(
      [
        { role: "user", blocks: [image, { type: "text", text: "Look" }] },
        {
          role: "assistant",
          blocks: [
            { type: "reasoning", text: "Secret thought" },
            { type: "tool-call", toolCall: call },
          ],
        },
        {
          role: "user",
          blocks: [{ type: "tool-result", result: createToolSuccess("c1", "seen") }],
        },
        { role: "assistant", blocks: [{ type: "text", text: "Done" }] },
      ],
      1000,
    );
    expect(parts).toEqual([
      [
        "(An image, image/png.)",
        "User: Look",
        'Tool call read: {"a":1}',
        "Tool result: seen",
        "Agent: Done",
      ].join("\n\n"),
    ]);
  });

  it("Messages beyond the limit begin another part, and no part is empty", () => {
    const blocks = [{ type: "text", text: "x".repeat(60) }] as const;
    const messages = Array.from({ length: 5 }, () => ({ role: "user" as const, blocks }));
    const parts = formatArchive(messages, 150);
    expect(parts.map((part) => part.split("\n\n").length)).toEqual([2, 2, 1]);
    expect(formatArchive([], 150)).toEqual([]);
  });

  it("Output above 16,000 characters keeps its edges and its diagnostic lines", () => {
    const noise = "a plain line of output\n".repeat(1000);
    const text = `start\n${noise}src/a.ts: error: no such name\n${noise}end`;
    const short = shortenOutput(text);
    expect(short.length).toBeLessThan(9000);
    expect(short).toMatch(/^start\n/);
    expect(short).toMatch(/\nend$/);
    expect(short).toContain("src/a.ts: error: no such name");
    expect(shortenOutput("x".repeat(16_000))).toBe("x".repeat(16_000));
  });
});
