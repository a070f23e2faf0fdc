import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createDiffTable, type DiffRow } from "./diff-rows.ts";
import { diffWords } from "./diff-words.ts";

function unfold(rows: readonly DiffRow[]): DiffRow[] {
  return rows.flatMap((row) => (row.kind === "gap" ? unfold(row.rows) : [row]));
}

function readSide(rows: readonly DiffRow[], side: "added" | "removed"): string[] {
  return unfold(rows).flatMap((row) => {
    if (row.kind === "same") return [row.text];
    return row.kind === side ? [row.segments.map(({ text }) => text).join("")] : [];
  });
}

const lines = fc.array(fc.constantFrom("a", "b c", "const x = 1;", "", "}"), { maxLength: 30 });

describe("The rows of a diff", () => {
  it("The rows contain every line of both versions once, in order", () => {
    fc.assert(
      fc.property(lines, lines, (before, after) => {
        const [oldText, newText] = [before, after].map((all) =>
          all.map((line) => `${line}\n`).join(""),
        );
        const { rows } = createDiffTable({
          path: "a",
          oldText: oldText ?? "",
          newText: newText ?? "",
        });
        expect(readSide(rows, "removed")).toEqual(before);
        expect(readSide(rows, "added")).toEqual(after);
      }),
    );
  });

  it("Unchanged lines far from a change are folded, and line numbers count both versions", () => {
    const before = Array.from({ length: 20 }, (_, at) => `${at + 1}`);
    const after = before.toSpliced(9, 1, "ten", "and a half");
    const { rows, addedCount, removedCount } = createDiffTable({
      path: "a",
      oldText: before.join("\n"),
      newText: after.join("\n"),
    });
    expect({ addedCount, removedCount }).toEqual({ addedCount: 2, removedCount: 1 });
    expect(rows.map((row) => (row.kind === "gap" ? row.rows.length : row.kind))).toEqual([
      6,
      "same",
      "same",
      "same",
      "removed",
      "added",
      "added",
      "same",
      "same",
      "same",
      7,
    ]);
    expect(rows.at(-2)).toEqual({ kind: "same", oldLine: 13, newLine: 14, text: "13" });
  });

  it.each([
    [null, "a\n", "new"],
    ["a\n", "", "emptied"],
    ["a\n", "a\n", "same"],
    ["a\n", "b\n", "changed"],
  ])("The change from %j to %j is of the kind %s", (oldText, newText, kind) => {
    expect(createDiffTable({ path: "a", oldText, newText }).kind).toBe(kind);
  });

  it("A line break added at the end of the file has its own row", () => {
    const { rows } = createDiffTable({ path: "a", oldText: "a", newText: "a\n" });
    expect(rows.at(-1)).toEqual({
      kind: "note",
      text: "Line break at the end of the file added",
    });
  });
});

describe("Changed words", () => {
  it("Only the changed words of a line are marked", () => {
    expect(diffWords("const limit = 10;", "const limit = 20;")).toEqual({
      removed: [
        { text: "const limit = ", isChanged: false },
        { text: "10", isChanged: true },
        { text: ";", isChanged: false },
      ],
      added: [
        { text: "const limit = ", isChanged: false },
        { text: "20", isChanged: true },
        { text: ";", isChanged: false },
      ],
    });
  });

  it("Lines with little in common have no marks", () => {
    expect(diffWords("return left + right;", "throw new Problem(reason);")).toBeUndefined();
  });
});
