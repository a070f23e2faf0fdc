import type { Mark } from "./mark-style.ts";

/** The kind of block, recognized by the start of a line. */
export type BlockStart =
  | { readonly type: "blank" }
  | { readonly type: "rule" }
  | { readonly type: "table" }
  /** Code until a line that consists of the same character, at least as often. */
  | { readonly type: "fence"; readonly fence: string }
  | TextStart;

export interface TextStart {
  readonly type: "text";
  /** Prefixes of the first row and of the following rows. */
  readonly first: string;
  readonly rest: string;
  readonly marks: readonly Mark[];
  /** Length of the recognized start, in characters of the line. */
  readonly length: number;
}

/** Recognizes the block of a line. Undefined if the line is too short to decide yet. */
export function readBlockStart(line: string, isComplete: boolean): BlockStart | undefined {
  if (/^\s*$/.test(line)) return isComplete ? { type: "blank" } : undefined;
  const quote = QUOTES.exec(line)?.[0] ?? "";
  const inner = line.slice(quote.length);
  if (quote === "") {
    if (/^\s*\|/.test(line)) return isComplete ? { type: "table" } : undefined;
    if (/^\s*(?:`{1,2}|~{1,2})$/.test(line) && !isComplete) return undefined;
    const fence = /^\s*(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) return isComplete ? { type: "fence", fence } : undefined;
    if (/^\s{0,3}([-*_])(?:\s*\1)*\s*$/.test(line) && !isComplete) return undefined;
    if (/^\s{0,3}([-*_])(?:\s*\1){2,}\s*$/.test(line)) return { type: "rule" };
  }
  if (!isComplete && INCOMPLETE_START.test(inner)) return undefined;
  return readTextStart(quote, inner);
}

function readTextStart(quote: string, inner: string): TextStart {
  const bars = "│ ".repeat(Math.min(quote.match(/>/g)?.length ?? 0, MAX_QUOTE_BARS));
  const [, indent = "", body = ""] = /^(\s*)(.*)$/s.exec(inner) ?? [];
  const deep = bars + " ".repeat(Math.min(indent.length, MAX_INDENT));
  const previousInner = quote.length + indent.length;
  const heading = HEADING.exec(body)?.[0];
  if (heading !== undefined) {
    const first = `${deep}${heading.trim()} `;
    const length = previousInner + heading.length;
    return { type: "text", first, rest: deep, marks: ["heading"], length };
  }
  const [whole = "", marker = "", box] = ITEM.exec(body) ?? [];
  if (whole === "")
    return { type: "text", first: deep, rest: deep, marks: [], length: previousInner };
  const sign = /\d/.test(marker) ? marker : "•";
  const done = box === undefined ? "" : /x/i.test(box) ? "☑ " : "☐ ";
  const first = `${deep}${sign} ${done}`;
  const rest = deep + " ".repeat(first.length - deep.length);
  return { type: "text", first, rest, marks: [], length: previousInner + whole.length };
}

const QUOTES = /^(?: {0,3}> ?)+/;
const HEADING = /^#{1,6}\s+/;
const ITEM = /^([-*+]|\d{1,9}[.)])\s+(?:\[([ xX])\]\s+)?/;
/** Matches a start that may still become a quote, a heading, a list item or a checkbox. */
const INCOMPLETE_START =
  /^\s*(?:#{1,6}\s*|[-*+]\s*|\d{1,9}[.)]?\s*|(?:[-*+]|\d{1,9}[.)])\s+\[[ xX]?\]?\s*|>\s*)?$/;
const MAX_QUOTE_BARS = 4;
const MAX_INDENT = 12;
