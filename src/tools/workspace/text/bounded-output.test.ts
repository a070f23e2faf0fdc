import { pluralize } from "../../../text/pluralize.ts";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBoundedOutput } from "./bounded-output.ts";

function endsOf(pieces: readonly string[], limit: number): string {
  const boundedOutput = createBoundedOutput(limit);
  for (const piece of pieces) boundedOutput.add(Buffer.from(piece));
  return boundedOutput.text();
}

describe("Bounded output", () => {
  it("Output within the limit is returned completely, for any chunk boundaries", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary-ascii", maxLength: 10 })), (pieces) => {
        const text = pieces.join("");
        const size = Buffer.byteLength(text);
        expect(endsOf(pieces, Math.max(2, size))).toBe(text);
      }),
    );
  });

  it("Longer output is cut to its beginning and end, with the number of omitted bytes", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 30 })),
        fc.integer({ min: 2, max: 20 }),
        (pieces, limit) => {
          const text = pieces.join("");
          fc.pre(text.length > limit);
          const half = Math.floor(limit / 2);
          const omittedCharacters = text.length - limit;
          const [head, tail] = [text.slice(0, half), text.slice(half - limit)];
          expect(endsOf(pieces, limit)).toBe(
            `${head}\n[… ${pluralize(omittedCharacters, "byte was", "bytes were")} omitted here …]\n${tail}`,
          );
        },
      ),
    );
  });

  it("Output is never cut inside a character", () => {
    for (let limit = 2; limit < 40; limit++) {
      for (const letter of ["é", "€", "\u{1f600}"]) {
        expect(endsOf([letter.repeat(30)], limit)).not.toContain("\ufffd");
      }
    }
  });
});
