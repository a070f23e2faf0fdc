import { describe, expect, it } from "vitest";
import { measureRetainedBytes } from "../../test/support/memory-usage.ts";
import { copyString, appendText, createTextBuilder } from "./text-builder.ts";

describe("Strings without hidden memory", () => {
  it("A copied string equals the original", () => {
    for (const text of ["", "a", "a slice of some length", "Grüße 🌍", "\ud83c half"]) {
      expect(copyString(text)).toBe(text);
    }
  });

  it("A copied slice does not keep its source string in memory", () => {
    const retainedBytes = measureRetainedBytes(() =>
      Array.from({ length: 20 }, (_, at) => copyString(window(at).slice(100, 140))),
    );
    expect(retainedBytes).toBeLessThan(5_000_000);
  });

  it("The built text equals the concatenation of its pieces", () => {
    const gathered = createTextBuilder();
    const pieces = Array.from({ length: 20_000 }, (_, at) => `${at} ü🌍`.slice(at % 7));
    for (const piece of pieces) appendText(gathered, piece);
    expect(gathered.text).toBe(pieces.join(""));
  });

  it("Built text costs a few bytes per character, however short its pieces are", () => {
    const characters = 1_000_000;
    const retainedBytes = measureRetainedBytes(() => {
      const gathered = createTextBuilder();
      for (let at = 0; at < characters; at++) appendText(gathered, "abcdefgh".charAt(at % 8));
      return gathered;
    });
    expect(retainedBytes / characters).toBeLessThan(3);
  });
});

/** A flat string of a million characters. */
function window(at: number): string {
  return Buffer.alloc(1_000_000, `window ${at}`).toString("latin1");
}
