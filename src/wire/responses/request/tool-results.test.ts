import { describe, expect, it } from "vitest";
import { refused } from "../../../../test/responses/refused-requests.ts";
import { formatCallId } from "../response-ids.ts";
import { toToolResults, listOpenCallIds } from "./tool-results.ts";
import { readContinuation } from "./new-input.ts";
import { readCreateRequest } from "./read-create-request.ts";

const OPEN = { sessionId: "ses_0123456789abcdef0123456789abcdef", toolCallIds: ["t0", "t1"] };

function readResults(...calls: readonly string[]) {
  const input = calls.map((call) => ({
    type: "function_call_output",
    call_id: formatCallId(OPEN.sessionId, call),
    output: `of ${call}`,
    ...(call === "t1" && { is_error: true }),
  }));
  const { results } = readContinuation(readCreateRequest({ input }), listOpenCallIds(OPEN));
  return toToolResults(results, OPEN);
}

describe("Results submitted by a caller", () => {
  it("Results are matched to their open tool calls in any order [OR-53, OR-54]", () => {
    expect(readResults("t1", "t0")).toEqual([
      { toolCallId: "t1", parts: [{ type: "text", text: "of t1" }], isError: true },
      { toolCallId: "t0", parts: [{ type: "text", text: "of t0" }], isError: false },
    ]);
  });

  it.each<[string, readonly string[], string, string]>([
    ["another tool call", ["t0", "other"], "input[1].call_id", "unknown_call"],
    ["one tool call twice", ["t0", "t0"], "input[1].call_id", "duplicate_result"],
    ["not all tool calls", ["t0"], "input", "missing_result"],
  ])("Results for %s are refused [OR-53]", (_, calls, param, code) => {
    expect(refused(() => readResults(...calls))).toEqual({ kind: "invalid_message", param, code });
  });
});
