import { describe, expect, it } from "vitest";
import { linesOf, textMessage } from "../../../test/fixtures/strands/fixtures.ts";
import { createStrandsFold } from "./fold.ts";
import { isNoise } from "./noise.ts";
import type { StrandsState } from "./state.ts";

const encoder = new TextEncoder();

/** The first bytes of a line, as passed by the framing. */
function startOf(data: string): Uint8Array {
  return encoder.encode(data).subarray(0, 64);
}

function stateAfter(lines: readonly string[]): StrandsState {
  const fold = createStrandsFold();
  const state = fold.initial();
  for (const data of lines) fold.step(state, { type: "event", event: "", data }, () => undefined);
  return state;
}

/** The first keys of a recording's skipped lines and of its reprs which are read. */
function verdicts(file: string): { readonly skipped: string[]; readonly read: string[] } {
  const fold = createStrandsFold();
  const state = fold.initial();
  const skipped: string[] = [];
  const read: string[] = [];
  for (const data of linesOf(file)) {
    const key = /^"\{'(\w+)'/.exec(data)?.[1];
    if (isNoise(state, startOf(data))) skipped.push(key ?? data);
    else {
      if (key !== undefined) read.push(key);
      fold.step(state, { type: "event", event: "", data }, () => undefined);
    }
  }
  return { skipped, read };
}

const EVENTS = textMessage("Hi").map((value) => JSON.stringify(value));

describe("Lines that can be skipped", () => {
  it.each(["py-tool-turn.sse", "py-old-tool-turn.sse"])(
    "All reprs of %s are skipped in both cycles [AC-75]",
    (file) => {
      const { skipped, read } = verdicts(file);
      expect(read).toEqual([]);
      expect(new Set(skipped)).toEqual(
        new Set([
          "reasoningText",
          "reasoning_signature",
          "data",
          file.includes("old") ? "delta" : "type",
          "result",
        ]),
      );
      expect(skipped).toHaveLength(10);
    },
  );

  it("The only carrier of content is never skipped [AC-76]", () => {
    expect(verdicts("py-redacted-reasoning.sse").read).toEqual(["event", "event", "message"]);
    expect(verdicts("py-image.sse").read).toEqual(["message"]);
    expect(verdicts("py-throttled.sse").read).toEqual(["event_loop_throttled_delay"]);
    expect(verdicts("py-data-events.sse")).toEqual({ skipped: [], read: Array(6).fill("data") });
    expect(verdicts("py-result-only.sse")).toEqual({ skipped: [], read: ["result"] });
  });

  it("A result is not skipped before the end of the turn", () => {
    expect(verdicts("py-structured.sse").read).toEqual(["result"]);
    expect(verdicts("py-interrupt.sse").read).toEqual(["result"]);
  });

  it("A result is not skipped after a tool result", () => {
    const message = '{"message": {"role": "assistant", "content": [{"text": "Hi"}]}}';
    const content = '[{"toolResult": {"toolUseId": "A", "content": [{"text": "x"}]}}]';
    const answer = `{"message": {"role": "user", "content": ${content}}}`;
    const result = startOf(`"{'result': AgentResult(stop_reason='end_turn')}"`);
    expect(isNoise(stateAfter([...EVENTS, message]), result)).toBe(true);
    expect(isNoise(stateAfter([...EVENTS, message, answer]), result)).toBe(false);
  });

  it("Reprs of nested agents are not skipped before their Converse events", () => {
    const repr = `"{'type': 'tool_stream', 'tool_stream_event': {'tool_use': {'toolUseId': 'A'}}}"`;
    expect(isNoise(stateAfter(EVENTS), startOf(repr))).toBe(false);
  });

  it("Reprs of nested agents are skipped after their Converse events", () => {
    expect(verdicts("py-agent-as-tool.sse").read).toEqual([]);
    expect(new Set(verdicts("py-graph.sse").read)).toEqual(new Set(["type"]));
    expect(verdicts("py-graph.sse").read).toHaveLength(3);
  });

  it("Skipping depends on the current message, not on an earlier message", () => {
    const repr = startOf(`"{'data': 'Hi', 'delta': {'text': 'Hi'}, 'agent': <A object at 0x1>}"`);
    expect(isNoise(stateAfter([]), repr)).toBe(false);
    expect(isNoise(stateAfter(EVENTS.slice(0, 1)), repr)).toBe(false);
    expect(isNoise(stateAfter(EVENTS.slice(0, 2)), repr)).toBe(true);
    expect(isNoise(stateAfter(EVENTS), repr)).toBe(true);
    expect(isNoise(stateAfter([...EVENTS, '{"start": true}']), repr)).toBe(false);
  });

  it("JSON and text that starts like a repr are never skipped", () => {
    const state = stateAfter(EVENTS.slice(0, 2));
    for (const data of ['{"data": "x"}', '"{"', `"{'a': 1}"`, `{'data': 1}`, `"data"`, "", `"{'`]) {
      expect(isNoise(state, startOf(data)), data).toBe(false);
    }
  });
});
