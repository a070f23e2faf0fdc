import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCodec } from "../../domain/codec.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { createToolCall } from "../../domain/tools/tool-call.ts";
import { createRuntimeStream } from "../agentcore/runtime/runtime-stream.ts";
import { encodeAigoOutput } from "./aigo-output.ts";
import { encodeConverseEvents } from "./encode-converse-events.ts";
import { convertModelOutput } from "./model-output.ts";

const folder = join(import.meta.dirname, "../../../test/fixtures/strands");
const captures = readdirSync(folder).filter((name) => name.endsWith(".sse"));

/** Encodes the turn through Converse events. */
function throughConverse(events: readonly ProviderEvent[]) {
  const failure = events.findLast((event) => event.type === "end")?.failure;
  const raw = { session_id: "s", turn_id: "t", events: encodeConverseEvents(events) };
  return withoutIds(convertModelOutput(failure === undefined ? raw : { ...raw, failure }));
}

function directly(events: readonly ProviderEvent[]) {
  return withoutIds(encodeAigoOutput(events, { scope: "t", sessionId: "s" }));
}

/** Ids number the blocks, and Converse may have fewer blocks. */
function withoutIds(output: object): unknown {
  return JSON.parse(
    JSON.stringify(output, (key, value: unknown) => (key === "id" ? undefined : value)),
  );
}

describe("Events of other providers as Converse events", () => {
  it.each(captures)("The output through Converse equals the direct output: %s", (name) => {
    const bytes = new Uint8Array(readFileSync(join(folder, name)));
    const events = runCodec(createRuntimeStream(), [bytes]);
    expect(throughConverse(events)).toEqual(directly(events));
  });

  it("Parallel tool calls keep their order and the side that ran them [OR-54] [SD-19]", () => {
    const call = (block: number, id: string, server?: string): ProviderEvent => ({
      type: "tool.end",
      message: 0,
      block,
      toolCall: createToolCall({
        id,
        name: `tool-${id}`,
        inputText: "",
        runBy: "server",
        ...(server !== undefined && { server }),
      }),
    });
    const result = (block: number, toolCallId: string, isError: boolean): ProviderEvent => ({
      type: "tool.result",
      message: 1,
      block,
      result: {
        toolCallId,
        isError,
        parts: [
          { type: "json", value: { ok: !isError } },
          { type: "unknown", raw: [1] },
        ],
      },
    });
    const events: ProviderEvent[] = [
      { type: "message.start", message: 0, role: "assistant" },
      { type: "reasoning.end", message: 0, block: 0, text: "Hm.", signature: "sig" },
      call(2, "b", "mcp"),
      call(1, "a"),
      { type: "message.end", message: 0, reason: "tool_use" },
      { type: "message.start", message: 1, role: "user" },
      result(3, "b", true),
      result(4, "a", false),
      { type: "message.end", message: 1, reason: null },
      { type: "end", outcome: "completed", reason: "done", openToolCallIds: [], usage: null },
    ];
    expect(throughConverse(events)).toEqual(directly(events));
    expect(JSON.stringify(throughConverse(events))).toMatch(/tool-a.*tool-b.*is_error/);
  });
});
