import { expect, it } from "vitest";
import { countInput, explainEnd, readPromptText, suggestFix } from "./describe-turn.ts";
import type { TurnEnd } from "../state/session-view.ts";
import { createEnd, createTurn, createUser } from "../../../test/support/portal/session-views.ts";

it.each<[Partial<TurnEnd>, string | undefined]>([
  [{}, undefined],
  [{ outcome: "limited", reason: "max_steps" }, "The turn reached its limit of model calls"],
  [{ outcome: "limited", reason: "a_new_reason" }, "a_new_reason"],
  [
    { outcome: "failed", failure: { code: "throttled", message: "Too many", details: {} } },
    "Too many",
  ],
  [{ outcome: "cancelled" }, undefined],
])("The end %j is explained as %j", (end, text) => {
  expect(explainEnd(createEnd(end))).toBe(text);
});

it("A failure which a person can fix has a suggestion", () => {
  expect(suggestFix("throttled")).toContain("retry");
  expect(suggestFix("malformed_event")).toBeUndefined();
});

it("Input tokens include those of the cache", () => {
  const usage = {
    inputTokens: 10,
    outputTokens: 5,
    cacheReadTokens: 300,
    cacheWriteTokens: 20,
    totalTokens: 335,
  };
  expect(countInput(usage)).toBe(330);
});

it("The title of a turn is its prompt in one line, or empty without a prompt", () => {
  expect(readPromptText(createTurn("t", [createUser(1, "Do\n  this")]))).toBe("Do this");
  expect(readPromptText(createTurn("t", []))).toBe("");
});
