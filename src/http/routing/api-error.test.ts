import { describe, expect, it } from "vitest";
import { SpanlineError, type ErrorCode } from "../../domain/errors.ts";
import { createProviderError } from "../../domain/provider/provider-error.ts";
import { ApiError, toApiError } from "./api-error.ts";

describe("Errors as HTTP responses", () => {
  it.each<[ErrorCode, number]>([
    ["validation_failed", 400],
    ["unauthorized", 401],
    ["access_denied", 403],
    ["not_found", 404],
    ["conflict", 409],
    ["cursor_gone", 410],
    ["throttled", 429],
    ["quota_exceeded", 429],
    ["connect_failed", 502],
    ["store_closed", 503],
    ["store_failed", 503],
    ["overloaded", 503],
    ["store_full", 507],
    ["store_damaged", 500],
    ["store_newer", 501],
    ["idle_timeout", 504],
  ])("The error code %s has the HTTP status %i [OR-51]", (code, status) => {
    expect(toApiError(new SpanlineError(code, "No"))).toMatchObject({ status, code });
  });

  it.each<[ErrorCode, object]>([
    ["store_full", { "retry-after": "5", "x-should-retry": "true" }],
    ["store_damaged", { "x-should-retry": "false" }],
    ["store_newer", { "x-should-retry": "false" }],
    ["not_found", {}],
  ])("The response to %s has headers for whether a retry can help", (code, headers) => {
    expect(toApiError(new SpanlineError(code, "No"))).toMatchObject({ headers });
  });

  it.each([
    [
      "ENOSPC",
      507,
      "store_full",
      "/data/x cannot be written: the disk is full. Fix: free some space",
    ],
    [
      "EMFILE",
      503,
      "overloaded",
      "The bridge has reached the system's limit of open files and connections",
    ],
  ])(
    "The response to the system error %s names the exhausted resource",
    (code, status, ours, message) => {
      const thrown = Object.assign(new Error(`${code}: bare text`), { code, path: "/data/x" });
      expect(toApiError(thrown)).toMatchObject({
        status,
        code: ours,
        message: expect.stringContaining(message),
      });
    },
  );

  it("The response names the invalid field and the surface's own error code [OR-70]", () => {
    const details = { param: "input[0].role", code: "invalid_value" };
    const wrong = new SpanlineError("validation_failed", "No", { details });
    expect(toApiError(wrong)).toMatchObject({ param: details.param, reason: details.code });
  });

  it("An ApiError is returned unchanged", () => {
    const error = new ApiError(418, "conflict", "No");
    expect(toApiError(error)).toBe(error);
  });

  it("Bugs and provider failures are not API errors", () => {
    const failed = createProviderError("service_failed", "No", { phase: "http", status: 418 });
    for (const thrown of [failed, new TypeError("secret"), "secret", undefined])
      expect(toApiError(thrown)).toBeUndefined();
  });
});
