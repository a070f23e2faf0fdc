import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffLists } from "./diff-lists.ts";

const lines = fc.array<string>(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 });

describe("Changes of a list", () => {
  it("The changes turn the old list into the new list and never touch each other", () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const made = [...before];
        const changes = diffLists(before, after);
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

  it("The changes keep as many items as possible", () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const changes = diffLists(before, after);
        const removed = changes.reduce((sum, change) => sum + change.removed.length, 0);
        expect(before.length - removed).toBe(countKept(before, after));
      }),
    );
  });

  it("Lists with too many changes differ in a single change", () => {
    const many = (word: string) => Array.from({ length: 2000 }, (_, at) => `${word} ${at % 7}`);
    expect(diffLists(many("a"), many("b"))).toHaveLength(1);
  });

  it("Few changes in very long lists are found one by one", () => {
    const before = Array.from({ length: 50_000 }, (_, at) => `line ${at}`);
    const after = before.with(10, "ten").toSpliced(25_000, 2).toSpliced(40_000, 0, "new");
    expect(diffLists(before, after)).toEqual([
      { oldStart: 10, newStart: 10, removed: ["line 10"], added: ["ten"] },
      { oldStart: 25_000, newStart: 25_000, removed: ["line 25000", "line 25001"], added: [] },
      { oldStart: 40_002, newStart: 40_000, removed: [], added: ["new"] },
    ]);
  });
});

/** The length of a longest common subsequence, by its definition. */
function countKept([first, ...before]: readonly string[], after: readonly string[]): number {
  if (first === undefined || after.length === 0) return 0;
  const at = after.indexOf(first);
  const without = countKept(before, after);
  return at === -1 ? without : Math.max(without, 1 + countKept(before, after.slice(at + 1)));
}
