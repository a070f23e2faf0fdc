import { expect, it } from "vitest";
import { SpanlineError } from "../domain/errors.ts";
import { reported } from "./reported.ts";

it("says what went wrong and what it came from, without names of classes", () => {
  const cause = new TypeError("the disk is full", { cause: new Error("ENOSPC") });
  const error = new SpanlineError("store_failed", "The sessions cannot be written", { cause });
  expect(reported(error)).toBe("The sessions cannot be written: the disk is full: ENOSPC\n");
});

it("says once what an error says of its cause", () => {
  const cause = new SpanlineError("invalid_option", "nobody trusts it");
  const error = new SpanlineError("invalid_option", "a.yaml: nobody trusts it", { cause });
  expect(reported(error)).toBe("a.yaml: nobody trusts it\n");
});

it("ends where an error is its own cause, and says something of one without words", () => {
  const error = new Error("round");
  error.cause = error;
  expect(reported(error)).toBe("round\n");
  expect(reported(new RangeError(""))).toBe("RangeError\n");
  expect(reported("just a text")).toBe("just a text\n");
});
