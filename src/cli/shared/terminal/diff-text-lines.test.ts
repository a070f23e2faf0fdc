import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffTextLines } from "./diff-text-lines.ts";

const lines = fc.array<string>(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 });

describe("Line changes", () => {
  it("The changes turn the old text into the new text and never touch each other", () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const made = [...before];
        const changes = diffTextLines(before, after);
        for (const { oldStart: at, removed, added } of changes.toReversed()) {
          expect(made.splice(at, removed.length, ...added)).toEqual(removed);
        }
        expect(made).toEqual(after);
        for (const [index, change] of changes.entries()) {
          expect(after.slice(change.newStart, change.newStart + change.added.length)).toEqual(
            change.added,
          );
          const next = changes[index + 1];
          if (next === undefined) continue;
          expect(next.oldStart).toBeGreaterThan(change.oldStart + change.removed.length);
        }
      }),
    );
  });

  it("Texts with too many lines to compare differ in a single change", () => {
    const many = (word: string) => Array.from({ length: 2000 }, (_, at) => `${word} ${at % 7}`);
    expect(diffTextLines(many("a"), many("b"))).toHaveLength(1);
  });
});
