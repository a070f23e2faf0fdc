import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPasteReader } from "./terminal-input.ts";

function read(pieces: readonly string[]): string {
  const reader = createPasteReader();
  return pieces.map(reader).join("");
}

const PASTED = "a\u001b[200~one\r\ntwo\n\tthree\u001b[31m\u0003\u001b[201~b\r";

describe("Pasted text", () => {
  it("Pasted text becomes one line without control characters", () => {
    expect(read([PASTED])).toBe("aone␤two␤    three[31mb\r");
  });

  it("The result does not depend on the chunks of the terminal", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 2, max: 9 }), { minLength: 1 }), (sizes) => {
        const pieces: string[] = [];
        for (let at = 0, turn = 0; at < PASTED.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 2;
          pieces.push(PASTED.slice(at, at + size));
          at += size;
        }
        // A lone escape is a key, not the start of a paste.
        fc.pre(!pieces.some((piece) => piece.endsWith("\u001b")));
        fc.pre(!pieces.some((piece) => piece.endsWith("\r") && piece !== pieces.at(-1)));
        expect(read(pieces)).toBe(read([PASTED]));
      }),
    );
  });

  it("Keys are passed through unchanged", () => {
    expect(read(["\u001b[A", "\u001b", "x\u0003"])).toBe("\u001b[A\u001bx\u0003");
  });
});
