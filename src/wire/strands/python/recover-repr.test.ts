import { describe, expect, it } from "vitest";
import { linesOf } from "../../../../test/fixtures/strands/fixtures.ts";
import { parseJson } from "../../../data/json.ts";
import { recoverRepr } from "./recover-repr.ts";

const STATE =
  "'agent': <strands.agent.agent.Agent object at 0x1>, 'event_loop_cycle_id': UUID('c-1'), 'request_state': {}, 'system_prompt': 'Be secret.', 'messages': [{'role': 'user', 'content': [{'text': 'private'}]}]";

/** The reprs of a recording that begin with a key, recovered. */
function recovered(file: string, key: string): unknown[] {
  return linesOf(file).flatMap((line) => {
    const parsed = line.startsWith(`"{'${key}'`) ? parseJson(line) : undefined;
    return parsed?.ok === true && typeof parsed.value === "string"
      ? [recoverRepr(parsed.value)]
      : [];
  });
}

describe("events in Python reprs", () => {
  it("come without the state of the loop, at any depth [AC-76]", () => {
    expect(recoverRepr(`{'data': 'Hi', 'delta': {'text': 'Hi'}, ${STATE}}`)).toEqual({
      type: "event",
      fields: { data: "Hi", delta: { text: "Hi" }, event_loop_cycle_id: "c-1" },
    });
    const inner = `{'type': 'tool_stream', 'tool_stream_event': {'tool_use': {'toolUseId': 'A'}, 'data': {'data': 'Hi', ${STATE}}}}`;
    expect(recoverRepr(inner)).toEqual({
      type: "event",
      fields: {
        type: "tool_stream",
        tool_stream_event: {
          tool_use: { toolUseId: "A" },
          data: { data: "Hi", event_loop_cycle_id: "c-1" },
        },
      },
    });
  });

  it("are found behind the state, should it come first [AC-76]", () => {
    expect(recoverRepr(`{${STATE}, 'data': 'Hi'}`)).toEqual({
      type: "event",
      fields: { event_loop_cycle_id: "c-1", data: "Hi" },
    });
  });

  it("give a result with its reason and message [AC-76]", () => {
    expect(recovered("py-result-only.sse", "result")).toMatchObject([
      {
        type: "event",
        fields: {
          result: {
            stop_reason: "end_turn",
            message: {
              role: "assistant",
              content: [{ text: `It's sunny in Tokyo, they said "25°C".` }],
            },
            metrics: {
              accumulated_usage: { inputTokens: 300, outputTokens: 50, totalTokens: 350 },
            },
          },
        },
      },
    ]);
  });

  it("give the value of an enum and the bytes of an image [AC-76]", () => {
    const text =
      "{'type': 'multiagent_result', 'result': R(status=<Status.FAILED: 'failed'>, raw=b'\\xff')}";
    expect(recoverRepr(text)).toEqual({
      type: "event",
      fields: { type: "multiagent_result", result: { status: "failed", raw: "/w==" } },
    });
  });

  it("keep __proto__ a key [AC-42]", () => {
    const read = recoverRepr("{'event': {'__proto__': {'polluted': True}, 'x': b''}}");
    expect(JSON.stringify(read)).toBe(
      '{"type":"event","fields":{"event":{"__proto__":{"polluted":true},"x":""}}}',
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it.each([
    "{'a': 1}",
    "{'data': 'x'}",
    "{'data': 'x', 'more': [1, None, True]}",
    "{'data': unfinished",
    "{'message': 'hello'}",
    "{'event': 'a party', 'guests': 3}",
    "{\"data\": 'x'}",
    "{}",
    "",
  ])("are not seen in %s [AC-78]", (text) => {
    expect(recoverRepr(text)).toEqual({ type: "text" });
  });

  it("are lost when they cannot be read to the end [AC-76]", () => {
    expect(recoverRepr("{'message': {'role': 'assistant', 'content': [b'\\x00")).toEqual({
      type: "lost",
      key: "message",
      reason: "It ends inside a string",
    });
  });
});

describe("dumps that begin with nothing known", () => {
  it.each([
    "{'progress': 5, 'agent': <strands.agent.Agent object at 0x7f01>, 'system_prompt': 'TOP SECRET'}",
    `{"data": "x", 'agent': <strands.agent.Agent object at 0x7f01>}`,
    "AgentResult(stop_reason='end_turn', metrics=<Metrics object at 0x7f01>)",
  ])("are never text: %s [AC-76]", (text) => {
    expect(recoverRepr(text).type).not.toBe("text");
  });

  it("are known by a set, which JSON does not have [AC-76]", () => {
    const text = "{'message': {'role': 'user', 'content': [{'tags': {'secret-a', 'secret-b'}}]}}";
    expect(recoverRepr(text).type).toBe("event");
  });

  it("are lost rather than shown when a known event holds what cannot be read [AC-76]", () => {
    const text = `{'message': ${"[".repeat(80)}, 'cost': Decimal('1.5')}`;
    expect(recoverRepr(text)).toMatchObject({ type: "lost", key: "message" });
  });
});
