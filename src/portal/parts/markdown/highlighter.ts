import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";

/** A piece of highlighted code. */
export type CodeNode =
  | string
  | { readonly className: string; readonly children: readonly CodeNode[] };

const lowlight = createLowlight({
  bash,
  c,
  cpp,
  css,
  diff,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  markdown,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
});
lowlight.registerAlias({ bash: ["shell", "console", "sh", "zsh"], ini: ["toml"], json: ["jsonc"] });

/** Highlights code. Undefined for an unknown language. */
export function highlightCode(code: string, language: string): readonly CodeNode[] | undefined {
  const name = language.toLowerCase();
  if (!lowlight.registered(name)) return undefined;
  return lowlight.highlight(name, code).children.flatMap(toCodeNode);
}

type HighlightedNode = ReturnType<typeof lowlight.highlight>["children"][number];

function toCodeNode(node: HighlightedNode): CodeNode | readonly CodeNode[] {
  if (node.type === "text") return node.value;
  if (node.type !== "element") return [];
  const { className } = node.properties;
  return {
    className: Array.isArray(className) ? className.join(" ") : "",
    children: node.children.flatMap(toCodeNode),
  };
}
