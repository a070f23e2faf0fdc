import { describe, expect, it } from "vitest";
import { linesOf } from "../../../../test/fixtures/strands/fixtures.ts";
import { parseJson } from "../../../data/json.ts";
import { recoverRepr } from "./recover-repr.ts";

const STATE =
  "'agent': <strands.agent.agent.Agent object at 0x1>, 'event_loop_cycle_id': UUID('c-1'), 'request_state': {}, 'system_prompt': 'Be secret.', 'messages': [{'role': 'user', 'content': [{'text': 'private'}]}]";

/** The recovered reprs of a recording which start with the given key. */
function recovered(file: string, key: string): unknown[] {
  return linesOf(file).flatMap((line) => {
    const parsed = line.startsWith(`"{'${key}'`) ? parseJson(line) : undefined;
    return parsed?.ok === true && typeof parsed.value === "string"
      ? [recoverRepr(parsed.value)]
      : [];
  });
}

describe("Events in Python reprs", () => {
  it("The loop state is removed at any depth [AC-76]", () => {
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

  it("An event after the loop state is found [AC-76]", () => {
    expect(recoverRepr(`{${STATE}, 'data': 'Hi'}`)).toEqual({
      type: "event",
      fields: { event_loop_cycle_id: "c-1", data: "Hi" },
    });
  });

  it("A result is recovered with its reason and message [AC-76]", () => {
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

  it("The value of an enum and the bytes of an image are recovered [AC-76]", () => {
    const text =
      "{'type': 'multiagent_result', 'result': R(status=<Status.FAILED: 'failed'>, raw=b'\\xff')}";
    expect(recoverRepr(text)).toEqual({
      type: "event",
      fields: { type: "multiagent_result", result: { status: "failed", raw: "/w==" } },
    });
  });

  it("__proto__ stays an ordinary key [AC-42]", () => {
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
  ])("The text %s is not a repr [AC-78]", (text) => {
    expect(recoverRepr(text)).toEqual({ type: "text" });
  });

  it("A truncated repr is lost [AC-76]", () => {
    expect(recoverRepr("{'message': {'role': 'assistant', 'content': [b'\\x00")).toEqual({
      type: "lost",
      key: "message",
      reason: "It ends inside a string",
    });
  });
});

describe("Dumps with an unknown first key", () => {
  it.each([
    "{'progress': 5, 'agent': <strands.agent.Agent object at 0x7f01>, 'system_prompt': 'TOP SECRET'}",
    `{"data": "x", 'agent': <strands.agent.Agent object at 0x7f01>}`,
    "AgentResult(stop_reason='end_turn', metrics=<Metrics object at 0x7f01>)",
  ])("A dump is never text: %s [AC-76]", (text) => {
    expect(recoverRepr(text).type).not.toBe("text");
  });

  it("A set, which JSON does not have, identifies a repr [AC-76]", () => {
    const text = "{'message': {'role': 'user', 'content': [{'tags': {'secret-a', 'secret-b'}}]}}";
    expect(recoverRepr(text).type).toBe("event");
  });

  it("A known event with unreadable content is lost and not emitted as text [AC-76]", () => {
    const text = `{'message': ${"[".repeat(80)}, 'cost': Decimal('1.5')}`;
    expect(recoverRepr(text)).toMatchObject({ type: "lost", key: "message" });
  });
});
