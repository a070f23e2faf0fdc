import { describe, expect, it } from "vitest";
import { SpanlineError } from "../../../domain/errors.ts";
import { encodeError } from "./encode-failure.ts";

describe("encodeError", () => {
  it("An error with a code is sent with its message and code, any other without details [ACP-58]", () => {
    const message = "The disk is full";
    const full = new SpanlineError("store_full", message, { details: { sessionId: "ses_1" } });
    expect(encodeError(full)).toEqual({
      code: -32603,
      message,
      data: { sessionId: "ses_1", code: "store_full", message },
    });
    expect(encodeError(new Error("at /home/me/secret.ts"))).toEqual({
      code: -32603,
      message: "Internal error",
    });
  });
});
