import { describe, expect, it } from "vitest";
import {
  completed,
  ended,
  foldLines,
  foldValues,
  saidText,
  skipped,
  started,
  textMessage,
} from "../../../test/fixtures/strands/fixtures.ts";
import type { ProviderEvent } from "../../domain/provider/provider-event.ts";
import { isNoise } from "./noise.ts";
import { createStrandsFold } from "./fold.ts";

/** Lines of a real AgentCore response of July 2025, as published in its documentation. */
const INIT = ['{"init_event_loop": true}', '{"start": true}', '{"start_event_loop": true}'];
const MESSAGE_START = '{"event": {"messageStart": {"role": "assistant"}}}';
const DELTA =
  '{"event": {"contentBlockDelta": {"delta": {"text": "Bedrock Agent"}, "contentBlockIndex": 0}}}';
const REPR = String.raw`"{'data': 'Bedrock Agent', 'delta': {'text': 'Bedrock Agent'}, 'agent': <strands.agent.agent.Agent object at 0xffff8a4eb230>, 'event_loop_cycle_id': UUID('ffe68ef9-dc65-4d6d-90f1-303202bd0c99'), 'request_state': {}, 'event_loop_cycle_trace': <strands.telemetry.metrics.Trace object at 0xffff88b51160>, 'event_loop_cycle_span': _Span(name=\"execute_event_loop_cycle\", context=SpanContext(trace_id=0x687b4c40a83ec90e8ca9d690ba5d5c72, span_id=0x869003b7115ed777, trace_flags=0x01, trace_state=[], is_remote=False))}"`;
const MESSAGE_STOP = '{"event": {"messageStop": {"stopReason": "tool_use"}}}';
const METADATA =
  '{"event": {"metadata": {"usage": {"inputTokens": 1643, "outputTokens": 117, "totalTokens": 1760}, "metrics": {"latencyMs": 2617}}}}';
const ANNOUNCED =
  '{"tool_name": "AWS Documentation Search", "type": "tool_use", "debug_data": {"message": {"role": "assistant", "content": [{"text": "..."}, {"toolUse": {"toolUseId": "tooluse_NHP8c04pTzWPVL0iGUHDhA", "name": "aws___search_documentation", "input": {"search_phrase": "Bedrock AgentCore", "limit": 10}}}]}}}';
const MESSAGE =
  '{"message": {"role": "assistant", "content": [{"text": "..."}, {"toolUse": {"toolUseId": "tooluse_NHP8c04pTzWPVL0iGUHDhA", "name": "aws___search_documentation", "input": {"search_phrase": "Bedrock AgentCore", "limit": 10}}}]}}';

const CALL_ID = "tooluse_NHP8c04pTzWPVL0iGUHDhA";
const USAGE = {
  inputTokens: 1643,
  outputTokens: 117,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  totalTokens: 1760,
};
const CALL: ProviderEvent[] = [
  {
    type: "tool.start",
    message: 0,
    block: 1,
    toolCallId: CALL_ID,
    name: "aws___search_documentation",
  },
  {
    type: "tool.delta",
    message: 0,
    block: 1,
    toolCallId: CALL_ID,
    text: '{"search_phrase":"Bedrock AgentCore","limit":10}',
  },
  {
    type: "tool.end",
    message: 0,
    block: 1,
    toolCall: {
      id: CALL_ID,
      name: "aws___search_documentation",
      inputText: '{"search_phrase":"Bedrock AgentCore","limit":10}',
      runBy: "server",
      input: { search_phrase: "Bedrock AgentCore", limit: 10 },
    },
  },
];
const NO_RESULT: ProviderEvent = {
  type: "diagnostic",
  diagnostic: {
    code: "tool_result_missing",
    message: `Server tool call ${CALL_ID} has no result`,
  },
};

function incomplete(message: string, reason: string | null = null): ProviderEvent {
  const failure = { code: "incomplete_turn", message, details: {} } as const;
  return { type: "end", outcome: "failed", reason, openToolCallIds: [], usage: null, failure };
}

/** The events of the given lines, without the final end event of the stream. */
function eventsOf(...lines: readonly string[]): ProviderEvent[] {
  return foldLines(lines).slice(0, -1);
}

describe("The documented lines of an AgentCore response", () => {
  it("The first three lines start the turn and one cycle", () => {
    expect(foldLines(INIT)).toEqual([
      { type: "activity", kind: "turn-started" },
      { type: "activity", kind: "cycle-started" },
      incomplete("The stream ended before any message"),
    ]);
  });

  it("messageStart starts a message", () => {
    expect(eventsOf(MESSAGE_START)[0]).toEqual(started(0));
  });

  it("contentBlockDelta is text", () => {
    expect(eventsOf(MESSAGE_START, DELTA)[1]).toEqual({
      type: "text.delta",
      message: 0,
      block: 0,
      text: "Bedrock Agent",
    });
  });

  it("A repr that repeats a delta is skipped from its first bytes [AC-75]", () => {
    const fold = createStrandsFold();
    const state = fold.initial();
    const start = new TextEncoder().encode(REPR).subarray(0, 64);
    expect(isNoise(state, start)).toBe(false);
    for (const data of [MESSAGE_START, DELTA]) {
      fold.step(state, { type: "event", event: "", data }, () => undefined);
    }
    expect(isNoise(state, start)).toBe(true);
    expect(foldLines([MESSAGE_START, DELTA, REPR])).toEqual([
      started(0),
      { type: "text.delta", message: 0, block: 0, text: "Bedrock Agent" },
      skipped(1),
      {
        type: "diagnostic",
        diagnostic: {
          code: "block_stop_missing",
          message: "A text block was never closed by the provider",
        },
      },
      { type: "text.end", message: 0, block: 0, text: "Bedrock Agent", implicitStop: true },
      {
        type: "diagnostic",
        diagnostic: {
          code: "message_stop_missing",
          message: "A message was never closed by the provider",
        },
      },
      ended(0, null),
      incomplete("The stream ended inside a message"),
    ]);
  });

  it("Text carried only by a repr is recovered [AC-76]", () => {
    expect(foldLines([REPR])).toEqual([
      started(0),
      ...saidText({ message: 0, block: 0 }, "Bedrock Agent"),
      ended(0, null),
      completed(null),
    ]);
  });

  it("messageStop sets the reason of the message, and a turn that ends there fails", () => {
    expect(foldLines([MESSAGE_START, MESSAGE_STOP])).toEqual([
      started(0),
      ended(0, "tool_use"),
      incomplete("The stream stopped for tools, but no tool call waits for a result", "tool_use"),
    ]);
  });

  it("Tokens and latency are read from metadata", () => {
    expect(eventsOf(METADATA)).toEqual([{ type: "usage", usage: USAGE, latencyMs: 2617 }]);
  });

  it("A tool event of an app is an announcement with a display name [AC-102]", () => {
    const debug: unknown = JSON.parse(ANNOUNCED);
    expect(eventsOf(ANNOUNCED)).toEqual([
      {
        type: "activity",
        kind: "tool-call-opened",
        toolCallId: CALL_ID,
        label: "🔧 AWS Documentation Search",
        raw: (debug as { debug_data: unknown }).debug_data,
      },
    ]);
  });

  it("A repeated announcement of a tool call is emitted once [AC-102]", () => {
    expect(eventsOf(ANNOUNCED, ANNOUNCED)).toHaveLength(1);
  });

  it("Text and tool call are read from a full message that is the only carrier", () => {
    expect(foldLines([MESSAGE])).toEqual([
      started(0),
      ...saidText({ message: 0, block: 0 }, "..."),
      ...CALL,
      ended(0, "tool_use"),
      NO_RESULT,
      incomplete("The stream stopped for tools, but no tool call waits for a result", "tool_use"),
    ]);
  });

  it("ASCII escapes of old apps are decoded", () => {
    const line = String.raw`{"event": {"contentBlockDelta": {"delta": {"text": "\u691c\u7d22 \ud83d\udd0d"}}}}`;
    expect(eventsOf(MESSAGE_START, line)[1]).toEqual({
      type: "text.delta",
      message: 0,
      block: 0,
      text: "検索 🔍",
    });
  });

  it("A full message after its messageStop is a copy, not a second message", () => {
    const values = [
      ...textMessage("Bedrock ", "Agent"),
      { message: { role: "assistant", content: [{ text: "Bedrock Agent" }] } },
    ];
    expect(foldValues(values)).toEqual([
      started(0),
      ...saidText({ message: 0, block: 0 }, "Bedrock ", "Agent"),
      ended(0, "end_turn"),
      completed("end_turn"),
    ]);
  });

  it("A printed error fails the turn and is not text [AC-101]", () => {
    const line = "'MCPAgentTool' object has no attribute 'tool_spec'";
    expect(foldLines([line])).toEqual([
      {
        type: "diagnostic",
        diagnostic: { code: "malformed_event", message: `The agent printed an error: ${line}` },
      },
      {
        type: "end",
        outcome: "failed",
        reason: null,
        openToolCallIds: [],
        usage: null,
        failure: { code: "stream_exception", message: line, details: { type: "printed" } },
      },
    ]);
  });

  it("A turn that continues after a printed error completes [AC-101]", () => {
    const line = "'MCPAgentTool' object has no attribute 'tool_spec'";
    const [first, ...rest] = textMessage("Fine").map((value) => JSON.stringify(value));
    const events = foldLines([first ?? "", line, ...rest]);
    expect(events.at(-1)).toEqual(completed("end_turn"));
    expect(events.filter((event) => event.type === "diagnostic")).toHaveLength(1);
  });

  it("Additional error texts can be configured [AC-101]", () => {
    const events = foldLines(["Traceback: out of luck"], { errorTexts: ["Traceback:"] });
    expect(events.at(-1)).toMatchObject({
      outcome: "failed",
      failure: { code: "stream_exception", message: "Traceback: out of luck" },
    });
  });
});
