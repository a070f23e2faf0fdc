import { expect, it } from "vitest";
import { highlightCode, type CodeNode } from "./highlighter.ts";

function readText(nodes: readonly CodeNode[]): string {
  return nodes.map((node) => (typeof node === "string" ? node : readText(node.children))).join("");
}

it.each(["ts", "python", "sh", "toml", "HTML", "jsonc"])(
  "Code in %s is highlighted, and its text is unchanged",
  (language) => {
    const code = 'const a = "<b>&amp;</b>"; # x\n[part]\n{"a": 1}\n';
    const nodes = highlightCode(code, language) ?? [];
    expect(readText(nodes)).toBe(code);
    expect(nodes.some((node) => typeof node !== "string")).toBe(true);
  },
);

it("Code in an unknown language is not highlighted", () => {
  expect(highlightCode("x", "constructor")).toBeUndefined();
});
