import { expect, it } from "vitest";
import { SpanlineError } from "../../domain/errors.ts";
import { formatErrorChain } from "./error-chain.ts";

it("An error chain prints each message without class names", () => {
  const cause = new TypeError("the disk is full", { cause: new Error("ENOSPC") });
  const error = new SpanlineError("store_failed", "The sessions cannot be written", { cause });
  expect(formatErrorChain(error)).toBe(
    "The sessions cannot be written: the disk is full: ENOSPC\n",
  );
});

it("An error of the database is printed without the text of SQLite", () => {
  const cause = new Error("database or disk is full");
  const message = "/data/s.db cannot be written: the disk is full. Fix: free some space";
  const error = new SpanlineError("store_full", message, { cause, details: { sqlite: 13 } });
  expect(formatErrorChain(error)).toBe(`${message}\n`);
  const locked = new SpanlineError("store_failed", "/data/s.db is locked by another process", {
    cause: new Error("database is locked"),
    details: { sqlite: 5 },
  });
  expect(formatErrorChain(new Error("Not resumed", { cause: locked }))).toBe(
    "Not resumed: /data/s.db is locked by another process\n",
  );
});

it("A message that already contains its cause is printed once", () => {
  const cause = new SpanlineError("invalid_option", "the file is not trusted");
  const error = new SpanlineError("invalid_option", "a.yaml: the file is not trusted", { cause });
  expect(formatErrorChain(error)).toBe("a.yaml: the file is not trusted\n");
});

it("A cyclic cause ends the chain, and an error without a message prints its class name", () => {
  const error = new Error("round");
  error.cause = error;
  expect(formatErrorChain(error)).toBe("round\n");
  expect(formatErrorChain(new RangeError(""))).toBe("RangeError\n");
  expect(formatErrorChain("just a text")).toBe("just a text\n");
});
