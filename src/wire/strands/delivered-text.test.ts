import { describe, expect, it } from "vitest";
import { foldValues, plainTurn, textMessage } from "../../../test/fixtures/strands/fixtures.ts";
import { findNewText, createDeliveredText, markDelivered } from "./delivered-text.ts";

describe("Repeated text", () => {
  it("A repetition may be split into different pieces", () => {
    const deliveredText = createDeliveredText();
    deliveredText.pieces.push("One. ", "", "Two. ");
    expect(findNewText(deliveredText, "text", "On")).toBe("");
    expect(findNewText(deliveredText, "text", "e. Tw")).toBe("");
    deliveredText.pieces.push("Three.");
    expect(findNewText(deliveredText, "text", "o. Three.")).toBe("");
    expect(deliveredText.positions.get("text")).toEqual({ piece: 4, offset: 0 });
  });

  it("A text that deviates is new as a whole; of a longer text only the remainder is new", () => {
    const deliveredText = createDeliveredText();
    deliveredText.pieces.push("One. ", "Two.");
    expect(findNewText(deliveredText, "text", "One. ")).toBe("");
    for (const text of ["Aside", "Twa"])
      expect(findNewText(deliveredText, "text", text)).toBe(text);
    expect(findNewText(deliveredText, "text", "Two. And more")).toBe(" And more");
    expect(deliveredText.positions.get("text")).toEqual({ piece: 1, offset: 0 });
  });

  it("Each carrier is compared from its own position", () => {
    const deliveredText = createDeliveredText();
    deliveredText.pieces.push("One.");
    markDelivered(deliveredText, "data");
    expect(findNewText(deliveredText, "data", "One.")).toBe("One.");
    expect(findNewText(deliveredText, "text", "One.")).toBe("");
  });

  it("A repetition of any length is dropped [AC-74]", () => {
    const parts = ["a".repeat(70_000), "b".repeat(70_000)];
    expect(foldValues([...textMessage(...parts), ...parts])).toEqual(
      plainTurn("end_turn", ...parts),
    );
    const [start, one, two, ...rest] = textMessage(...parts);
    expect(foldValues([start, one, parts[0], two, parts[1], ...rest])).toEqual(
      plainTurn("end_turn", ...parts),
    );
    expect(foldValues([...textMessage(...parts), parts.join("")])).toEqual(
      plainTurn("end_turn", ...parts),
    );
  });
});
