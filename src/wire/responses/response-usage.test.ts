import { describe, expect, it } from "vitest";
import { addUsage, type Usage } from "../../domain/usage.ts";
import { encodeResponseUsage } from "./response-usage.ts";

const FIRST: Usage = {
  inputTokens: 100,
  outputTokens: 10,
  cacheReadTokens: 40,
  cacheWriteTokens: 5,
  totalTokens: 155,
};
const SECOND: Usage = {
  inputTokens: 200,
  outputTokens: 20,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  totalTokens: 221,
};
const STEPS = [{ usage: FIRST, latencyMs: 812 }, { usage: SECOND }];

describe("Usage", () => {
  const expected = {
    input_tokens: 345,
    input_tokens_details: { cached_tokens: 40 },
    output_tokens: 30,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 376,
    steps: [
      {
        input_tokens: 100,
        cache_read_tokens: 40,
        cache_write_tokens: 5,
        output_tokens: 10,
        total_tokens: 155,
        latency_ms: 812,
      },
      {
        input_tokens: 200,
        cache_read_tokens: 0,
        cache_write_tokens: 0,
        output_tokens: 20,
        total_tokens: 221,
      },
    ],
  };

  it("Cached tokens count as input, and the reported total and every step are kept [SD-33]", () => {
    expect(encodeResponseUsage(addUsage(FIRST, SECOND), STEPS)).toEqual(expected);
  });

  it("Usage without a total is the sum of the steps [SD-33]", () => {
    expect(encodeResponseUsage(null, STEPS)).toEqual(expected);
  });

  it("Usage is null if no counts were reported", () => {
    expect(encodeResponseUsage(null, [])).toBeNull();
  });
});
