import * as fc from "fast-check";
import { Lexer, type Token } from "marked";
import { describe, expect, it } from "vitest";
import { lexBlock, mayUseDefinitions } from "./lex-block.ts";
import {
  EMPTY_MARKDOWN,
  MAX_BLOCK_LENGTH,
  updateMarkdown,
  type MarkdownStream,
} from "./split-markdown.ts";
import { runs } from "../../../../test/support/test-depth.ts";

function splitWhole(text: string): MarkdownStream {
  return updateMarkdown(EMPTY_MARKDOWN, text);
}

function splitInPieces(text: string, cuts: readonly number[]): MarkdownStream {
  const ends = [...cuts.map((cut) => cut % (text.length + 1)), text.length].sort((a, b) => a - b);
  return ends.reduce((stream, end) => updateMarkdown(stream, text.slice(0, end)), EMPTY_MARKDOWN);
}

const LINES = [
  "",
  "",
  "plain words",
  "# Heading",
  "Setext\n---",
  "- item",
  "- item\n  - nested\n\n    paragraph in an item",
  "  continued",
  "1. first",
  "12. twelfth",
  "> quote",
  "> - list in a quote",
  "```ts",
  "```",
  "  ```",
  "~~~~",
  "~~~",
  "    indented",
  "| a | b |\n|---|:-:|\n| 1 | 2 |",
  "[docs]: https://example.com 'Title'",
  "see [docs] and [text][docs]",
  "**bold** `code` *em* ~~del~~",
  "<div>",
  "***",
  "-",
  "word\r",
  "x".repeat(MAX_BLOCK_LENGTH - 10),
  "😀".repeat(MAX_BLOCK_LENGTH / 4),
];
const anyText = fc
  .array(fc.constantFrom(...LINES), { maxLength: 14 })
  .map((lines) => lines.join("\n"));

describe("A growing Markdown text", () => {
  it("The blocks do not depend on how the text was split into deltas", () => {
    fc.assert(
      fc.property(anyText, fc.array(fc.nat(), { maxLength: 12 }), (text, cuts) => {
        expect(splitInPieces(text, cuts)).toEqual(splitWhole(text));
      }),
      { numRuns: runs(400) },
    );
  });

  it("The blocks do not depend on deltas of one character", () => {
    const text = LINES.slice(0, 24).join("\n");
    const cuts = Array.from({ length: text.length }, (_, at) => at);
    expect(splitInPieces(text, cuts)).toEqual(splitWhole(text));
  });

  it("The parsed blocks together equal the parsed whole text", () => {
    const wellFormed = fc
      .array(fc.constantFrom(...LINES.filter((line) => isWellFormed(line))), { maxLength: 12 })
      .map((lines) => lines.join("\n\n"));
    fc.assert(
      fc.property(wellFormed, (text) => {
        const { finished, open } = splitWhole(text);
        const sources = [...finished, ...(open === null ? [] : [open])].map((block) =>
          block.kind === "code" ? `~~~ ${block.language}\n${block.code}\n~~~\n` : block.source,
        );
        const pieces = sources.flatMap((source) => describeTokens(new Lexer().lex(source)));
        expect(pieces).toEqual(describeTokens(new Lexer().lex(text)));
      }),
      { numRuns: runs(400) },
    );
  });

  it("Finished blocks are the same objects after more text", () => {
    const first = splitWhole("One.\n\nTwo.\n\nThr");
    const second = updateMarkdown(first, "One.\n\nTwo.\n\nThree.\n\nFour");
    // The line of the open block is incomplete: the line may yet become part of the block before.
    expect(first.finished.map(({ start }) => start)).toEqual([0]);
    expect(second.finished.map(({ start }) => start)).toEqual([0, 6]);
    expect(second.finished[0]).toBe(first.finished[0]);
    expect(second.open).toEqual({ kind: "markup", start: 12, source: "Three.\n\nFour" });
  });

  it("A text that does not continue the previous text is split anew", () => {
    const stream = updateMarkdown(splitWhole("Old.\n\nText"), "New");
    expect(stream).toEqual(splitWhole("New"));
  });

  it("An open code block has its language and its code so far", () => {
    expect(splitWhole("Run:\n```bash {x}\nnpm ci\nnpm").open).toEqual({
      kind: "code",
      start: 5,
      language: "bash",
      code: "npm ci\nnpm",
    });
  });

  it("A fence inside a list item stays in the list", () => {
    const { finished, open } = splitWhole("- a\n  ```js\n  x\n  ```\n- b\n\n```js\ny\n```\n");
    expect(finished.map(({ kind }) => kind)).toEqual(["markup", "code"]);
    expect(open).toBeNull();
  });

  it("No block is longer than the limit, and a long list is split between items", () => {
    const list = Array.from({ length: 300 }, (_, at) => `- item ${at} with some words in it\n`);
    const { finished, open } = splitWhole(`${list.join("")}${"z".repeat(3 * MAX_BLOCK_LENGTH)}`);
    const sources = [...finished, ...(open === null ? [] : [open])].flatMap((block) =>
      block.kind === "markup" ? block.source : [],
    );
    expect(Math.max(...sources.map((source) => source.length))).toBeLessThanOrEqual(
      MAX_BLOCK_LENGTH,
    );
    expect(sources.slice(0, 2).every((source) => source.startsWith("- item"))).toBe(true);
  });

  it("The work for a long text grows linearly: no delta parses finished text again", () => {
    const paragraph = `${"word ".repeat(60)}\n\n`;
    let stream = EMPTY_MARKDOWN;
    let parsed = 0;
    const text = paragraph.repeat(200);
    for (let end = 20; end <= text.length; end += 20) {
      const next = updateMarkdown(stream, text.slice(0, end));
      const added = next.finished.slice(stream.finished.length);
      for (const block of [...added, ...(next.open === null ? [] : [next.open])])
        parsed += block.kind === "markup" ? block.source.length : block.code.length;
      stream = next;
    }
    const deltas = text.length / 20;
    expect(parsed / deltas).toBeLessThan(2 * paragraph.length);
  });
});

describe("Link definitions", () => {
  it("A definition at the end applies to the blocks before it", () => {
    const stream = splitWhole("See [the docs][d].\n\n[d]: https://example.com\n");
    const [block] = stream.finished;
    const source = block?.kind === "markup" ? block.source : "";
    expect(mayUseDefinitions(source)).toBe(true);
    expect(lexBlock(source, stream.definitions)).toEqual([
      {
        kind: "paragraph",
        children: [
          { kind: "text", text: "See " },
          {
            kind: "link",
            href: "https://example.com/",
            children: [{ kind: "text", text: "the docs" }],
          },
          { kind: "text", text: "." },
        ],
      },
    ]);
  });
});

/** Without lines whose meaning depends on the lines around them, and without HTML, which ends with its own rules. */
function isWellFormed(line: string): boolean {
  return !/^(?:`|~| {2}|<|\[|-$)|\r|x{9}|😀/u.test(line);
}

/** Consecutive lists and paragraphs are compared by their texts: a list may be split between its items. */
function describeTokens(tokens: readonly Token[]): string[] {
  return tokens.flatMap((token) =>
    token.type === "space" || token.type === "def" ? [] : `${token.type} ${token.raw.trim()}`,
  );
}
