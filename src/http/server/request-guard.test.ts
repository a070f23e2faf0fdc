import { describe, expect, it } from "vitest";
import { explainForeignRequest } from "./request-guard.ts";

const OPTIONS = { host: "127.0.0.1", allowedOrigins: ["https://app.example"] };

function reasonFor(origin: string): ReturnType<typeof explainForeignRequest> {
  const headers = [
    ["host", "127.0.0.1:4777"],
    ["origin", origin],
  ] as const;
  return explainForeignRequest(headers, OPTIONS);
}

describe("The Origin header", () => {
  it.each(["http://127.0.0.1:4777", "https://app.example"])(
    "The origin %s is accepted",
    (origin) => {
      expect(reasonFor(origin)).toBeUndefined();
    },
  );

  it.each([
    "http://127.0.0.1:4777.evil.example",
    "http://127.0.0.1:47770",
    "http://127.0.0.1",
    "https://127.0.0.1:4777",
    "https://app.example.evil.example",
    "https://app.exampl",
    "null",
    "",
  ])(
    "The origin %j is refused: an origin is compared as a whole, not by prefix [OR-69]",
    (origin) => {
      expect(reasonFor(origin)).toEqual({
        message: `The request comes from a page of "${origin}", which may not call this server`,
        setting: ["allowedOrigins", origin],
      });
    },
  );
});
