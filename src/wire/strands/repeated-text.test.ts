import { describe, expect, it } from "vitest";
import { foldValues, plainTurn, textMessage } from "../../../test/fixtures/strands/fixtures.ts";
import { goesOnRepeating, noRepeatedText } from "./repeated-text.ts";

describe("text that comes again", () => {
  it("may be cut in other pieces", () => {
    const repeated = noRepeatedText();
    repeated.pieces.push("One. ", "", "Two. ");
    expect(goesOnRepeating(repeated, "On")).toBe(true);
    expect(goesOnRepeating(repeated, "e. Tw")).toBe(true);
    repeated.pieces.push("Three.");
    expect(goesOnRepeating(repeated, "o. Three.")).toBe(true);
    expect(repeated).toMatchObject({ piece: 4, at: 0 });
  });

  it("stays where it stands when another text comes, or more than was said", () => {
    const repeated = noRepeatedText();
    repeated.pieces.push("One. ", "Two.");
    expect(goesOnRepeating(repeated, "One. ")).toBe(true);
    for (const text of ["Aside", "Twa", "Two. And more"]) {
      expect(goesOnRepeating(repeated, text), text).toBe(false);
      expect(repeated).toMatchObject({ piece: 1, at: 0 });
    }
  });

  it("is dropped however long it is [AC-74]", () => {
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
