import { describe, expect, it } from "vitest";
import { keptBytes } from "../../test/support/memory.ts";
import { detached, gather, noText } from "./kept-text.ts";

describe("text that is kept", () => {
  it("is the same when it is detached", () => {
    for (const text of ["", "a", "a slice of some length", "Grüße 🌍", "\ud83c half"]) {
      expect(detached(text)).toBe(text);
    }
  });

  it("keeps nothing else alive when it is detached", () => {
    const kept = keptBytes(() =>
      Array.from({ length: 20 }, (_, at) => detached(window(at).slice(100, 140))),
    );
    expect(kept).toBeLessThan(5_000_000);
  });

  it("is what its pieces are together", () => {
    const gathered = noText();
    const pieces = Array.from({ length: 20_000 }, (_, at) => `${at} ü🌍`.slice(at % 7));
    for (const piece of pieces) gather(gathered, piece);
    expect(gathered.text).toBe(pieces.join(""));
  });

  it("costs a few bytes for a character, however short its pieces are", () => {
    const characters = 1_000_000;
    const kept = keptBytes(() => {
      const gathered = noText();
      for (let at = 0; at < characters; at++) gather(gathered, "abcdefgh".charAt(at % 8));
      return gathered;
    });
    expect(kept / characters).toBeLessThan(3);
  });
});

/** A text of a million characters, as one piece. */
function window(at: number): string {
  return Buffer.alloc(1_000_000, `window ${at}`).toString("latin1");
}
