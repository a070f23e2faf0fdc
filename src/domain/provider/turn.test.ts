import { describe, expect, it } from "vitest";
import { measureRetainedBytes } from "../../../test/support/memory-usage.ts";
import type { ProviderEvent } from "./provider-event.ts";
import { addToTurn, createTurnBuilder } from "./turn-builder.ts";
import { snapshotTurn, buildTurn } from "./turn.ts";

const start: ProviderEvent = { type: "message.start", message: 0, role: "assistant" };

describe("buildTurn", () => {
  it("The text of an open block is visible", () => {
    const turn = createTurnBuilder();
    for (const text of ["Hel", "lo"]) {
      if (turn.messages.size === 0) addToTurn(turn, start);
      addToTurn(turn, { type: "text.delta", message: 0, block: 0, text });
    }
    expect(snapshotTurn(turn)).toMatchObject({ text: "Hello", end: null });
  });

  it.each(["text.delta", "reasoning.delta", "tool.delta"] as const)(
    "An open block takes a few bytes per character, however short each %s is",
    (type) => {
      const characters = 300_000;
      const retainedBytes = measureRetainedBytes(() => {
        const turn = createTurnBuilder();
        for (let at = 0; at < characters; at++) {
          const text = "abcdefgh".charAt(at % 8);
          addToTurn(turn, { type, message: 0, block: 0, toolCallId: "A", text });
        }
        return turn;
      });
      expect(retainedBytes / characters).toBeLessThan(4);
    },
  );

  it("A replacement takes the position of the withdrawn text, which stays withdrawn", () => {
    const turn = buildTurn([
      start,
      { type: "text.delta", message: 0, block: 0, text: "secret" },
      { type: "text.delta", message: 0, block: 2, text: "more" },
      { type: "message.replaced", message: 0, text: "[redacted]" },
      { type: "text.end", message: 0, block: 0, text: "secret" },
      { type: "text.delta", message: 0, block: 2, text: "late" },
      { type: "reasoning.end", message: 0, block: 1, text: "hm" },
    ]);
    expect(turn.messages[0]?.blocks).toEqual([
      { type: "text", text: "[redacted]" },
      { type: "reasoning", text: "hm" },
    ]);
  });
});
