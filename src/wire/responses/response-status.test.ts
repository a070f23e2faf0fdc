import { describe, expect, it } from "vitest";
import type { Outcome, TurnEnd } from "../../domain/provider/provider-event.ts";
import { toResponseStatus } from "./response-status.ts";

describe("The status of a response", () => {
  it.each([
    ["completed", "end_turn"],
    ["completed", "stop_sequence"],
    ["action-required", "tool_use"],
  ] satisfies [Outcome, string][])(
    "A turn that is %s with %s is completed [SD-31]",
    (outcome, reason) => {
      expect(toResponseStatus(end({ outcome, reason }))).toEqual({
        status: "completed",
        incomplete_details: null,
        error: null,
      });
    },
  );

  it.each([
    ["max_tokens", "max_output_tokens"],
    ["max_output_tokens_exceeded", "max_output_tokens"],
    ["max_iterations_exceeded", "max_tool_calls"],
    ["timeout_exceeded", "timeout"],
    ["model_context_window_exceeded", "context_length_exceeded"],
    ["content_filtered", "content_filter"],
    ["guardrail_intervened", "content_filter"],
    ["interrupted", "interrupted"],
    ["partial_turn", "partial_turn"],
  ])("A turn that ends with %s is incomplete because of %s [SD-31]", (reason, detail) => {
    const expected = { status: "incomplete", incomplete_details: { reason: detail }, error: null };
    expect(toResponseStatus(end({ outcome: "limited", reason }))).toEqual(expected);
    expect(toResponseStatus(end({ outcome: "failed", reason }))).toEqual(expected);
  });

  it("The hook that stopped the turn is named with its reason [SD-31]", () => {
    const stoppedBy = { hook: "budget-guard", reason: "Over budget" };
    expect(
      toResponseStatus(end({ outcome: "limited", reason: "hook_stopped", stoppedBy })),
    ).toEqual({
      status: "incomplete",
      incomplete_details: {
        reason: "hook_stopped",
        hook: { name: "budget-guard", reason: "Over budget" },
      },
      error: null,
    });
  });

  it.each(["malformed_model_output", "malformed_tool_use"])(
    "A turn that ends with %s fails with a model error [SD-31]",
    (reason) => {
      expect(toResponseStatus(end({ outcome: "failed", reason }))).toEqual({
        status: "failed",
        incomplete_details: null,
        error: { code: "model_error", message: `The model's output is unusable: ${reason}` },
      });
    },
  );

  it("A model error has the provider's message, unless the stream broke as well [SD-32]", () => {
    const fault = { outcome: "failed", reason: "malformed_tool_use" } as const;
    const message = 'The provider ended the turn with "malformed_tool_use"';
    const ended = { code: "stream_exception", message, details: { reason: fault.reason } } as const;
    const broken = { code: "truncated_stream", message: "Cut", details: { offset: 9 } } as const;
    expect(toResponseStatus(end({ ...fault, failure: ended }))).toEqual({
      status: "failed",
      incomplete_details: null,
      error: { code: "model_error", message },
    });
    expect(toResponseStatus(end({ ...fault, failure: broken }))).toEqual({
      status: "failed",
      incomplete_details: null,
      error: { code: "truncated_stream", message: "Cut" },
    });
  });

  it("A stream failure fails the response, regardless of the reason before [SD-32]", () => {
    const failure = {
      code: "stream_exception",
      message: "Internal error",
      details: { name: "internalServerException" },
    } as const;
    expect(toResponseStatus(end({ outcome: "failed", reason: "end_turn", failure }))).toEqual({
      status: "failed",
      incomplete_details: null,
      error: { code: "stream_exception", message: "Internal error" },
    });
  });

  it.each([
    [null, "The turn failed"],
    ["tool_use", "The turn failed: tool_use"],
  ])("A failed turn with only the reason %s is failed [SD-32]", (reason, message) => {
    expect(toResponseStatus(end({ outcome: "failed", reason }))).toEqual({
      status: "failed",
      incomplete_details: null,
      error: { code: "incomplete_turn", message },
    });
  });

  it.each([
    ["sunspots", "sunspots"],
    [null, "unknown"],
  ])(
    "A turn with the unknown reason %s is incomplete with the provider's reason",
    (reason, detail) => {
      expect(toResponseStatus(end({ outcome: "other", reason }))).toEqual({
        status: "incomplete",
        incomplete_details: { reason: detail },
        error: null,
      });
    },
  );
});

function end(facts: Pick<TurnEnd, "outcome" | "reason"> & Partial<TurnEnd>): TurnEnd {
  return { type: "end", openToolCallIds: [], usage: null, ...facts };
}
