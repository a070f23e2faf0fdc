import { describe, expect, it } from "vitest";
import { PLAIN } from "../inspect/style.ts";
import { diffLines } from "./diff-lines.ts";

function shown(oldText: string | null, newText: string): string[] {
  return diffLines({ path: "a.txt", oldText, newText }, PLAIN);
}

describe("a diff on the terminal", () => {
  it("is what changes, with two lines around it", () => {
    expect(shown("1\n2\n3\n4\n5\n6\n7\n", "1\n2\n3\nfour\n5\n6\n7\n")).toEqual([
      "a.txt (from line 2)",
      "  2",
      "  3",
      "- 4",
      "+ four",
      "  5",
      "  6",
    ]);
  });

  it.each<[what: string, oldText: string | null, newText: string, lines: string[]]>([
    ["a new file", null, "1\n2\n", ["a.txt (new)", "+ 1", "+ 2"]],
    ["a file that is emptied", "1\n", "", ["a.txt (from line 1)", "- 1"]],
    [
      "a line among others like it",
      "1\n1\n",
      "1\n1\n1\n",
      ["a.txt (from line 1)", "  1", "  1", "+ 1"],
    ],
    ["nothing", "1\n", "1\n", ["a.txt (from line 1)", "  1"]],
  ])("of %s has no line twice and none too few", (_, oldText, newText, lines) => {
    expect(shown(oldText, newText)).toEqual(lines);
  });

  it("is cut where it is long, and says by how much", () => {
    const lines = Array.from({ length: 30 }, (_, at) => String(at)).join("\n");
    expect(shown(null, lines).slice(-2)).toEqual(["+ 19", "  … 10 more lines"]);
    expect(shown(null, "x".repeat(300))[1]).toHaveLength(203);
  });

  it("does not steer the terminal", () => {
    expect(shown(null, "a\u001b[2Jb\r\n")).toEqual(["a.txt (new)", "+ a\\u{1b}[2Jb\\u{d}"]);
  });
});
