import { describe, expect, it } from "vitest";
import { ERROR_CODES, SpanlineError, type ErrorCode } from "../../domain/errors.ts";
import { providerError } from "../../domain/provider-error.ts";
import { errorAnswer, errorFrame } from "./error-body.ts";
import { missing, wrongField } from "./request/refusal.ts";
import { SSE_DONE, sseText } from "./sse-text.ts";

describe("an error's answer", () => {
  it("names the field and the code [OR-70]", () => {
    expect(errorAnswer(wrongField("input[0].role", "is wrong"))).toEqual({
      status: 400,
      body: {
        error: {
          message: '"input[0].role" is wrong',
          type: "invalid_request_error",
          param: "input[0].role",
          code: "invalid_value",
        },
      },
    });
  });

  it.each<[ErrorCode, number, string]>([
    ["throttled", 429, "too_many_requests"],
    ["quota_exceeded", 429, "too_many_requests"],
    ["validation_failed", 400, "invalid_request_error"],
    ["access_denied", 403, "invalid_request_error"],
    ["unauthorized", 401, "invalid_request_error"],
    ["not_found", 404, "not_found"],
    ["conflict", 409, "invalid_request_error"],
    ["idle_timeout", 504, "server_error"],
    ["store_failed", 500, "server_error"],
  ])("of %s has the status %i [OR-51]", (code, status, type) => {
    const { status: given, body } = errorAnswer(new SpanlineError(code, "No"));
    const expected = { message: "No", type, param: null, code };
    expect([given, body.error]).toEqual([status, expected]);
  });

  it("has a status for every code, and does not take the provider's for its own", () => {
    for (const code of ERROR_CODES)
      expect(errorAnswer(new SpanlineError(code, "No")).status).toBeGreaterThanOrEqual(400);
    const refused = providerError("service_failed", "No", { phase: "http", status: 418 });
    expect(errorAnswer(refused).status).toBe(500);
  });

  it("says nothing of what was thrown by mistake", () => {
    const { status, body } = errorAnswer(new TypeError("secret is not a function"));
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain("secret");
  });

  it("is a frame with a status over a WebSocket [OR-76]", () => {
    const facts = { param: "previous_response_id", code: "previous_response_not_found" };
    expect(errorFrame(errorAnswer(missing("Gone", facts)))).toEqual({
      type: "error",
      status: 404,
      error: { message: "Gone", type: "not_found", ...facts },
    });
  });
});

describe("an event as text", () => {
  it("is one piece whose name is its type [OR-19]", () => {
    const event = { type: "response.output_text.delta", delta: "a\nb\u2028🚀" };
    const text = sseText(event);
    const [name, data, ...rest] = text.split("\n");
    expect([name, rest]).toEqual([`event: ${event.type}`, ["", ""]]);
    expect(JSON.parse(data?.slice("data: ".length) ?? "")).toEqual(event);
    expect(SSE_DONE).toBe("data: [DONE]\n\n");
  });
});
