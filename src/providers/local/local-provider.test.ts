import { describe, expect, it } from "vitest";
import type { ModelMessage } from "../../domain/model/model-request.ts";
import type { Model } from "../../models/model.ts";
import { localProvider } from "./local-provider.ts";

const MESSAGES: readonly ModelMessage[] = [
  { role: "user", blocks: [{ type: "text", text: "Hello" }] },
];
const model: Model = {
  name: "silent",
  // eslint-disable-next-line require-yield
  async *stream() {
    throw new Error("The model is not invoked");
  },
};

describe("The tokenizer of localProvider", () => {
  it("The tokenizer of the model counts the messages", async () => {
    const counting: Model = { ...model, countTokens: async (messages) => messages.length * 7 };
    const { signal } = new AbortController();
    expect(await localProvider({ model: counting }).countTokens?.(MESSAGES, { signal })).toBe(7);
  });

  it("The provider of a model without a tokenizer has no countTokens, so callers estimate", () => {
    expect(Object.keys(localProvider({ model }))).not.toContain("countTokens");
  });
});
