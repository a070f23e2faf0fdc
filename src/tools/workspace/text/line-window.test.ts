import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLineWindow, type WindowOptions } from "./line-window.ts";

const ALL = { from: 1, lines: 1000, characters: 100_000, lineCharacters: 1000 };

function windowOf(
  bytes: Uint8Array,
  cuts: readonly number[],
  options: Partial<WindowOptions> = {},
) {
  const window = createLineWindow({ ...ALL, ...options });
  let start = 0;
  for (const cut of [...cuts].sort((one, other) => one - other)) {
    window.add(bytes.subarray(start, cut));
    start = cut;
  }
  window.add(bytes.subarray(start));
  return window.end();
}

describe("Line windows", () => {
  it("Lines are counted as in an editor", () => {
    const totals = ["", "a", "a\n", "a\nb", "\n", "\n\n", "a\r\nb\r\n"].map(
      (text) => windowOf(Buffer.from(text), []).total,
    );
    expect(totals).toEqual([0, 1, 1, 2, 1, 2, 2]);
  });

  it("The result is the same for any chunk boundaries", () => {
    const units = fc.constantFrom("a", "é", "\u{1f600}", "\n", "\r\n", "\u00ff");
    fc.assert(
      fc.property(
        fc.string({ unit: units, maxLength: 60 }),
        fc.array(fc.nat(60)),
        fc.record({ from: fc.integer({ min: 1, max: 5 }), lines: fc.integer({ min: 1, max: 5 }) }),
        (text, cuts, options) => {
          const bytes = Buffer.from(text);
          const inside = cuts.filter((cut) => cut < bytes.length);
          expect(windowOf(bytes, inside, options)).toEqual(windowOf(bytes, [], options));
        },
      ),
    );
  });

  it("A text within the limits is returned completely", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme", maxLength: 20 })), (input) => {
        const lines = input.map((line) => line.replaceAll(/[\r\n]/g, ""));
        const { lines: windowLines, isUtf8 } = windowOf(
          Buffer.from(lines.map((l) => `${l}\n`).join("")),
          [],
        );
        expect([windowLines, isUtf8]).toEqual([lines, true]);
      }),
    );
  });
});
