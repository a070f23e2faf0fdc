import { describe, expect, it } from "vitest";
import { lexBlock, type BlockNode } from "./lex-block.ts";
import { MAX_BLOCK_LENGTH } from "./split-markdown.ts";

function lex(source: string): readonly BlockNode[] {
  return lexBlock(source, new Map());
}

function paragraph(...children: Extract<BlockNode, { kind: "paragraph" }>["children"]): BlockNode {
  return { kind: "paragraph", children };
}

describe("Untrusted Markdown", () => {
  it("HTML is text", () => {
    expect(lex("a <b onclick=x>b</b>")).toEqual([
      paragraph(
        { kind: "text", text: "a " },
        { kind: "text", text: "<b onclick=x>" },
        { kind: "text", text: "b" },
        { kind: "text", text: "</b>" },
      ),
    ]);
    expect(lex("<script>\nalert(1)\n</script>")).toEqual([
      { kind: "plain", text: "<script>\nalert(1)\n</script>" },
    ]);
  });

  it.each([
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "&#106;avascript:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "//example.com",
    "/api/sessions",
    "https:",
  ])("A link to %s is shown as written", (href) => {
    expect(lex(`[x](${href})`)).toEqual([paragraph({ kind: "text", text: `[x](${href})` })]);
  });

  it.each(["https://example.com/a?b=c", "http://example.com/", "mailto:a@example.com"])(
    "A link to %s is a link",
    (href) => {
      const children = [{ kind: "text", text: "x" } as const];
      expect(lex(`[x](${href})`)).toEqual([paragraph({ kind: "link", href, children })]);
    },
  );

  it("An image is not loaded: it becomes a link, or text if its address is not safe", () => {
    expect(lex("![a](https://example.com/a.png)![b](data:image/png;base64,AA)")).toEqual([
      paragraph(
        { kind: "image", href: "https://example.com/a.png", alt: "a" },
        { kind: "image", href: null, alt: "b" },
      ),
    ]);
  });

  it("Entities are decoded in text and kept in code", () => {
    expect(lex("a &lt;b&gt; &#x202e; &unknown; `&lt;`")).toEqual([
      paragraph(
        { kind: "text", text: "a <b> \u202e &unknown; " },
        { kind: "inline-code", text: "&lt;" },
      ),
    ]);
  });

  it.each([
    ["unmatched brackets", "[".repeat(MAX_BLOCK_LENGTH)],
    ["unmatched emphasis", "*a ".repeat(MAX_BLOCK_LENGTH / 3)],
    ["nested quotes", "> ".repeat(MAX_BLOCK_LENGTH / 2)],
    ["nested quotes without spaces", ">".repeat(MAX_BLOCK_LENGTH)],
    ["nested ordered lists", "1. ".repeat(MAX_BLOCK_LENGTH / 3)],
    ["nested bullets", Array.from({ length: 80 }, (_, at) => `${"  ".repeat(at)}- a\n`).join("")],
  ])("%s become plain text", (_, source) => {
    expect(lex(source)).toEqual([{ kind: "plain", text: source.trimEnd() }]);
  });
});

describe("Lists and tables", () => {
  it("A task list keeps its checks, and a tight item has no paragraph", () => {
    expect(lex("1. [x] done\n2. [ ] open")).toEqual([
      {
        kind: "list",
        start: 1,
        items: [
          { checked: true, children: [{ kind: "text", text: "done" }] },
          { checked: false, children: [{ kind: "text", text: "open" }] },
        ],
      },
    ]);
  });

  it("A table keeps its alignment", () => {
    expect(lex("| a | b |\n|--|-:|\n| 1 | **2** |")).toEqual([
      {
        kind: "table",
        align: [null, "right"],
        header: [[{ kind: "text", text: "a" }], [{ kind: "text", text: "b" }]],
        rows: [
          [
            [{ kind: "text", text: "1" }],
            [{ kind: "strong", children: [{ kind: "text", text: "2" }] }],
          ],
        ],
      },
    ]);
  });
});
