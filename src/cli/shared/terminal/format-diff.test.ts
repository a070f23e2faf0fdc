import { describe, expect, it } from "vitest";
import { PLAIN_STYLE } from "../../../inspect/trace-style.ts";
import { formatDiff } from "./format-diff.ts";

function printDiff(oldText: string | null, newText: string): string[] {
  return formatDiff({ path: "a.txt", oldText, newText }, PLAIN_STYLE);
}

describe("A diff in the terminal", () => {
  it("A diff shows the changed lines with two lines of context", () => {
    expect(printDiff("1\n2\n3\n4\n5\n6\n7\n", "1\n2\n3\nfour\n5\n6\n7\n")).toEqual([
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
    ["no change", "1\n", "1\n", ["a.txt (no changes)"]],
    ["an empty file", null, "", ["a.txt (new)"]],
    [
      "a newline added at the end",
      "1\n2",
      "1\n2\n",
      ["a.txt (from line 1)", "  1", "  2", "+ [newline at end of file]"],
    ],
    [
      "a removed newline at the end",
      "1\n2\n",
      "1\n3",
      ["a.txt (from line 1)", "  1", "- 2", "- [newline at end of file]", "+ 3"],
    ],
  ])("The diff of %s shows each line exactly once", (_, oldText, newText, lines) => {
    expect(printDiff(oldText, newText)).toEqual(lines);
  });

  it("Distant changes are shown as separate hunks", () => {
    const lines = Array.from({ length: 100 }, (_, at) => `line ${at + 1}`);
    const changed = lines.with(9, "ten").with(11, "twelve").toSpliced(79, 1);
    expect(printDiff(`${lines.join("\n")}\n`, `${changed.join("\n")}\n`)).toEqual([
      "a.txt (from line 8)",
      "  line 8",
      "  line 9",
      "- line 10",
      "+ ten",
      "  line 11",
      "- line 12",
      "+ twelve",
      "  line 13",
      "  line 14",
      "… from line 78",
      "  line 78",
      "  line 79",
      "- line 80",
      "  line 81",
      "  line 82",
    ]);
  });

  it("A diff prints the number of omitted hunks", () => {
    const lines = Array.from({ length: 120 }, (_, at) => String(at));
    const changed = lines.map((line, at) => (at % 10 === 5 ? `${line}!` : line));
    expect(printDiff(lines.join("\n"), changed.join("\n")).at(-1)).toBe("… 2 more hunks");
  });

  it("A long diff is cut and prints the number of omitted lines", () => {
    const lines = Array.from({ length: 30 }, (_, at) => String(at)).join("\n");
    expect(printDiff(null, lines).slice(-2)).toEqual(["+ 19", "  … 10 more lines"]);
    expect(printDiff(null, "x".repeat(300))[1]).toHaveLength(203);
  });

  it("Control characters in a diff are escaped", () => {
    expect(printDiff(null, "a\u001b[2Jb\r\n")).toEqual(["a.txt (new)", "+ a\\u{1b}[2Jb\\u{d}"]);
  });
});
