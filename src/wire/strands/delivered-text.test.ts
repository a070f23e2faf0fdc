import { describe, expect, it } from "vitest";
import { foldValues, plainTurn, textMessage } from "../../../test/fixtures/strands/fixtures.ts";
import { findNewText, createDeliveredText, markDelivered } from "./delivered-text.ts";

describe("Repeated text", () => {
  it("A repetition may be split into different pieces", () => {
    const said = createDeliveredText();
    said.pieces.push("One. ", "", "Two. ");
    expect(findNewText(said, "text", "On")).toBe("");
    expect(findNewText(said, "text", "e. Tw")).toBe("");
    said.pieces.push("Three.");
    expect(findNewText(said, "text", "o. Three.")).toBe("");
    expect(said.positions.get("text")).toEqual({ piece: 4, offset: 0 });
  });

  it("A text that deviates is new as a whole; of a longer text only the remainder is new", () => {
    const said = createDeliveredText();
    said.pieces.push("One. ", "Two.");
    expect(findNewText(said, "text", "One. ")).toBe("");
    for (const text of ["Aside", "Twa"]) expect(findNewText(said, "text", text)).toBe(text);
    expect(findNewText(said, "text", "Two. And more")).toBe(" And more");
    expect(said.positions.get("text")).toEqual({ piece: 1, offset: 0 });
  });

  it("Each carrier is compared from its own position", () => {
    const said = createDeliveredText();
    said.pieces.push("One.");
    markDelivered(said, "data");
    expect(findNewText(said, "data", "One.")).toBe("One.");
    expect(findNewText(said, "text", "One.")).toBe("");
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
