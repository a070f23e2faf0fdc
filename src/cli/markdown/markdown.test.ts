import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PLAIN_STYLE } from "../../inspect/trace-style.ts";
import { createColorStyle } from "../shared/terminal/color-style.ts";
import { createMarkdown } from "./markdown.ts";
import { createMarkStyle, type MarkStyle } from "./mark-style.ts";
import { measureText } from "./text-width.ts";
import { runs } from "../../../test/support/test-depth.ts";

/** Shows marks as letters, so tests can assert them. */
const LETTERS: MarkStyle = {
  hasColours: true,
  paints: {
    strong: (text) => `S{${text}}`,
    emphasis: (text) => `E{${text}}`,
    code: (text) => `C{${text}}`,
    struck: (text) => `X{${text}}`,
    link: (text) => `L{${text}}`,
    heading: (text) => `H{${text}}`,
    dim: (text) => text,
  },
};
const UNMARKED = createMarkStyle(PLAIN_STYLE, null);

function rowsOf(pieces: readonly string[], style = LETTERS, width = 40): string[] {
  const codec = createMarkdown({ style, width: () => width });
  const state = codec.initial();
  const rows: string[] = [];
  for (const piece of pieces) {
    codec.step(state, piece, (row) => rows.push(row));
    codec.openRows(state);
  }
  codec.finish(state, (row) => rows.push(row));
  return rows;
}

describe("Markdown in a terminal", () => {
  it.each([
    ["a heading", "## To do", ["## H{To} H{do}"]],
    ["emphasis", "*a* **b** ***c*** ~~d~~ _e_", ["E{a} S{b} E{S{c}} X{d} E{e}"]],
    ["emphasis in emphasis", "**a *b* c**", ["S{a} S{E{b}} S{c}"]],
    ["code without further marks", "run `a *b* c`!", ["run C{a} C{*b*} C{c}!"]],
    [
      "text that only looks like emphasis",
      "2 * 3 * 4, snake_case_name, a ** b",
      ["2 * 3 * 4, snake_case_name, a ** b"],
    ],
    ["an opening mark without a closing mark", "*args and **kwargs", ["*args and **kwargs"]],
    ["escapes", "\\*not\\* \\`so\\`", ["*not* `so`"]],
    [
      "a link with its URL",
      "see [the page](https://a.b/c_d).",
      ["see L{the} L{page} (https://a.b/c_d)."],
    ],
    ["an address", "<https://a.b> < 3", ["L{https://a.b} < 3"]],
    [
      "list items and nested items",
      "- one\n  - two\n1. three\n- [x] done",
      ["• one", "  • two", "1. three", "• ☑ done"],
    ],
    ["quotes", "> said\n> > more", ["│ said", "│ │ more"]],
    ["a rule", "a\n\n---\n\nb", ["a", "", "─".repeat(40), "", "b"]],
    [
      "code unchanged",
      "```ts\nconst a = *b*;\n\n  // c\n```\nend",
      ["```ts", "const a = *b*;", "", "  // c", "```", "end"],
    ],
    ["single blank lines, and none at the ends", "\n\na\n\n\n\nb\n\n", ["a", "", "b"]],
    ["Windows line ends", "a\r\nb\r\n", ["a", "b"]],
  ])("Markdown output shows %s", (_, text, rows) => {
    expect(rowsOf([text])).toEqual(rows);
  });

  it("Without colors, the Markdown source is printed", () => {
    expect(rowsOf(["# A\n**b** and `c`\n- d"], UNMARKED)).toEqual(["# A", "**b** and `c`", "• d"]);
  });

  it("Rows break between words, and rows of a list item are indented", () => {
    const text = "- one two three four five six seven eight nine";
    expect(rowsOf([text], LETTERS, 20)).toEqual([
      "• one two three four",
      "  five six seven",
      "  eight nine",
    ]);
  });

  it("Wide characters count as two columns, and rows may break between them", () => {
    expect(rowsOf(["你好世界你好世界你好世界。完"], LETTERS, 20)).toEqual([
      "你好世界你好世界你好",
      "世界。完",
    ]);
    const family = "👩‍👩‍👧 ";
    expect(rowsOf([family.repeat(8)], LETTERS, 20)).toEqual([
      family.repeat(7).trim(),
      family.trim(),
    ]);
  });

  it("The columns of a table are aligned, and wide cells are wrapped", () => {
    const table =
      "| Name | Says |\n|:--|--:|\n| `a|b` | 1 |\n| long | one two three four five six |\n";
    expect(rowsOf([table], UNMARKED, 30)).toEqual([
      "Name                      Says",
      "──────────────────────────────",
      "`a|b`                        1",
      "long   one two three four five",
      "                           six",
    ]);
  });

  it("A long line of dashes with another character is rejected as a table in linear time", () => {
    const line = `|${"-".repeat(5000)}x`;
    expect(rowsOf([`| a |\n${line}\n`], LETTERS, 10_000)).toEqual(["| a |", line]);
  });

  it("A table with too many columns is printed as lists", () => {
    const table =
      "| A | B | C | D |\n|---|---|---|---|\n| long words | 2 is here | 3 is there | 4 is nowhere |\n";
    expect(rowsOf([table], UNMARKED, 20)).toEqual([
      "A: long words",
      "B: 2 is here",
      "C: 3 is there",
      "D: 4 is nowhere",
    ]);
  });

  it("Control characters in Markdown are escaped", () => {
    const rows = rowsOf(["\u001b[2Ja\u0007 **\u009b31m** \u202e\rb\n```\n\u001b]0;x\u0007\n```"]);
    // oxlint-disable-next-line no-control-regex -- the assertion is about control characters
    expect(rows.join("")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
    expect(rows[0]).toContain("\\u{1b}[2Ja");
  });

  it("The unfinished line is visible while it arrives", () => {
    const codec = createMarkdown({ style: LETTERS, width: () => 20 });
    const state = codec.initial();
    const rows: string[] = [];
    const open = (text: string): readonly string[] => {
      codec.step(state, text, (row) => rows.push(row));
      return codec.openRows(state);
    };
    expect(open("one **tw")).toEqual(["one S{tw}"]);
    expect(open("o** three four five ")).toEqual(["five"]);
    expect(rows).toEqual(["one S{two} three four"]);
    expect(open("\n")).toEqual([]);
    expect(rows).toEqual(["one S{two} three four", "five"]);
  });

  it("The rows of an unfinished line stay few, however long the line is", () => {
    const codec = createMarkdown({ style: LETTERS, width: () => 40 });
    const state = codec.initial();
    for (let piece = 0; piece < 400; piece += 1) {
      codec.step(state, `**word ${piece} `, () => {});
      expect(codec.openRows(state).length).toBeLessThan(20);
    }
  });
});

const fragment = fc.constantFrom(
  ..."*_~`[]()!<>|#-+.\\ \n".split(""),
  "**",
  "```\n",
  "\n\n",
  "| a | b |\n",
  "|---|---|\n",
  "[x](y)",
  "- [ ] ",
  "1. ",
  "> ",
  "word ",
  "a",
  "é",
  "e\u0301",
  "你好",
  "👩‍👩‍👧",
  "❤\ufe0f",
  "\r\n",
  "\t",
  "\u001b[1m",
  "https://a.b/c ",
);

describe("Markdown that arrives in chunks", () => {
  it("The rows do not depend on the chunks, and no row is wider than the terminal", () => {
    const text = fc.array(fragment, { maxLength: 60 }).map((parts) => parts.join(""));
    const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 20 });
    const width = fc.integer({ min: 20, max: 60 });
    fc.assert(
      fc.property(text, sizes, width, (whole, lengths, columns) => {
        const pieces: string[] = [];
        for (let at = 0, turn = 0; at < whole.length; turn += 1) {
          const length = lengths[turn % lengths.length] ?? 1;
          pieces.push(whole.slice(at, at + length));
          at += length;
        }
        for (const style of [createMarkStyle(createColorStyle(), null), LETTERS, UNMARKED]) {
          expect(rowsOf(pieces, style, columns)).toEqual(rowsOf([whole], style, columns));
        }
        for (const row of rowsOf([whole], UNMARKED, columns)) {
          expect(measureText(row)).toBeLessThanOrEqual(columns);
        }
      }),
      { numRuns: runs(500) },
    );
  });
});
