import { describe, expect, it } from "vitest";
import {
  foldLines,
  foldValues,
  plainTurn,
  started,
  textDelta,
  textMessage,
} from "../../../test/fixtures/strands/fixtures.ts";
import { runCodec } from "../../domain/codec.ts";
import type { ProviderEvent, TurnEnd } from "../../domain/provider/provider-event.ts";
import { buildTurn } from "../../domain/provider/turn.ts";
import { createStrandsFold } from "./fold.ts";

function failed(message: string, payload: unknown): TurnEnd {
  return {
    type: "end",
    outcome: "failed",
    reason: null,
    openToolCallIds: [],
    usage: null,
    failure: { code: "stream_exception", message, details: { type: "error", payload } },
  };
}

function body(value: unknown): ProviderEvent[] {
  return runCodec(createStrandsFold(), [{ type: "body", value }]);
}

describe("A body with an error", () => {
  it.each([
    [{ error: "Boom", code: 500 }, "Boom"],
    [{ error: { message: "Boom" } }, "Boom"],
    [{ error: { code: 7 } }, '{"code":7}'],
    [{ type: "error", message: "Boom" }, "Boom"],
    [{ type: "error", detail: "Boom" }, "Boom"],
    [{ type: "error", code: 7 }, '{"type":"error","code":7}'],
    [{ detail: "Internal Server Error" }, "Internal Server Error"],
    [
      { __type: "AccessDeniedException", Message: 1 },
      '{"__type":"AccessDeniedException","Message":1}',
    ],
    [{ errorMessage: "Task timed out", errorType: "Timeout" }, "Task timed out"],
    [{ status: "error", message: "Boom" }, "Boom"],
    [{ message: "Internal server error" }, "Internal server error"],
  ])("A body with an error fails the turn: %j [AC-80, AC-83]", (value, message) => {
    expect(body(value)).toEqual([failed(message, value)]);
  });

  it.each([
    { error: null, answer: 42 },
    { error: "", answer: 42 },
    { message: "Hi", answer: 42 },
    { message: 42 },
  ])("A body without an error is a structured result: %j [AC-83]", (value) => {
    expect(body(value)[0]).toEqual({ type: "activity", kind: "structured-result", raw: value });
    expect(body(value).at(-1)).toMatchObject({ outcome: "completed" });
  });

  it.each([{ message: "Hi" }, { detail: "Hi" }])(
    "With a success status, a body of only this field is a result: %j [AC-83]",
    (value) => {
      const events = runCodec(createStrandsFold({ hasSuccessStatus: true }), [
        { type: "body", value },
      ]);
      expect(events[0]).toEqual({ type: "activity", kind: "structured-result", raw: value });
      expect(events.at(-1)).toMatchObject({ outcome: "completed" });
    },
  );
});

describe("An error inside a bare string", () => {
  const inner = JSON.stringify({ error: "Boom", error_type: "ValueError" });

  it("An error in the last string fails the turn [AC-80]", () => {
    const turn = buildTurn(foldValues(["Hi", inner]));
    expect(turn.text).toBe("Hi");
    expect(turn.end?.failure).toMatchObject({ message: "ValueError: Boom" });
  });

  it("An error in a string followed by text is kept, and the turn completes [AC-34]", () => {
    const turn = buildTurn(foldValues(["Hi", inner, " there"]));
    expect(turn).toMatchObject({ text: "Hi there", end: { outcome: "completed" } });
    expect(turn.unknown).toHaveLength(1);
  });
});

describe("An unknown object with an error in a stream", () => {
  const errors: [unknown, string][] = [
    [{ error: "boom", status: 500 }, "boom"],
    [{ error: { message: "boom" }, status: 500 }, "boom"],
    [{ type: "error", message: "boom" }, "boom"],
  ];

  it.each(errors)(
    "An object with an error at the end fails the turn: %j [AC-80]",
    (value, message) => {
      expect(foldValues(["Hello", value]).at(-1)).toEqual(failed(message, value));
      expect(foldValues([value]).at(-1)).toEqual(failed(message, value));
      expect(foldValues([...textMessage("Hello"), value]).at(-1)).toMatchObject({
        outcome: "failed",
        failure: { code: "stream_exception", message },
      });
      expect(foldLines(["Hello", JSON.stringify(value)]).at(-1)).toEqual(failed(message, value));
    },
  );

  it.each(errors)("Text before an error stays open as truncated text: %j", (value) => {
    const events = foldValues(["Hello", value]);
    expect(events.find((event) => event.type === "text.end")).toMatchObject({ implicitStop: true });
  });

  it.each(errors)(
    "An object with an error is app data if the stream continues: %j [AC-34]",
    (value) => {
      const streams = [
        [value, "Hello"],
        ["Hel", value, "lo"],
        [value, ...textMessage("Hello")],
        [...textMessage("Hello"), value, full("Hello")],
        [...textMessage("Hello"), value, { result: "Hello" }],
        [...textMessage("Hello"), full("Hello"), value, REPR_OF_RESULT],
      ];
      for (const stream of streams) {
        const turn = buildTurn(foldValues(stream));
        expect(turn.unknown.map(({ raw }) => raw)).toEqual([value]);
        expect([turn.text, turn.end?.outcome]).toEqual(["Hello", "completed"]);
      }
    },
  );

  it("An unknown event after an error does not prevent the failure", () => {
    const value = { error: "boom", status: 500 };
    expect(foldValues(["Hello", value, { done: true }]).at(-1)).toEqual(failed("boom", value));
  });

  it("An error between raw strings is text", () => {
    const lines = ["Say ", '{"error": "boom", "status": 500}', " to fail"];
    expect(foldLines(lines)).toEqual(plainTurn(null, ...lines));
  });
});

describe("An event that the agent could not serialize", () => {
  const lost = { error: "Serialization failed", original_type: "dict" };
  const message = 'The agent could not send an event of type "dict"';

  it("A lost event inside a message fails the turn unless the full message arrives [AC-80]", () => {
    const [start, ...rest] = textMessage("a", "c");
    const values = [start, textDelta("a", 0), lost, ...rest.slice(1)];
    expect(buildTurn(foldValues(values))).toMatchObject({
      text: "ac",
      end: { outcome: "failed", failure: { code: "malformed_event", message } },
    });
    expect(buildTurn(foldValues([...values, full("abc")]))).toMatchObject({
      text: "abc",
      end: { outcome: "completed" },
    });
  });

  it("A lost event between bare strings fails the turn", () => {
    const events = foldValues(["a", lost, "c"]);
    expect(events[0]).toEqual(started(0));
    expect(events.at(-1)).toMatchObject({ failure: { code: "malformed_event", message } });
  });

  it("A lost event between messages does not fail the turn", () => {
    expect(foldValues([...textMessage("a"), lost]).at(-1)).toMatchObject({ outcome: "completed" });
  });
});

const REPR_OF_RESULT = "{'result': AgentResult(stop_reason='end_turn')}";

function full(text: string): { readonly message: unknown } {
  return { message: { role: "assistant", content: [{ text }] } };
}
