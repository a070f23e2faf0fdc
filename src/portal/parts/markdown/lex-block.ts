import { Lexer, type Token, type Tokens } from "marked";
import type { LinkDefinitions } from "./split-markdown.ts";
import { decodeEntities } from "./decode-entities.ts";
import { toSafeLink } from "./safe-link.ts";

/**
 * One parsed block of Markdown. All text is literal: entities are decoded, HTML is text, links are safe to follow.
 */
export type BlockNode =
  | { readonly kind: "paragraph"; readonly children: readonly InlineNode[] }
  | { readonly kind: "heading"; readonly depth: number; readonly children: readonly InlineNode[] }
  | { readonly kind: "quote"; readonly children: readonly BlockNode[] }
  | ListNode
  | TableNode
  | { readonly kind: "code"; readonly language: string; readonly code: string }
  | { readonly kind: "rule" }
  /** Text as written, with its line breaks. */
  | { readonly kind: "plain"; readonly text: string };

export interface ListNode {
  readonly kind: "list";
  /** The first number. Null for bullets. */
  readonly start: number | null;
  readonly items: readonly ListItem[];
}

export interface ListItem {
  /** Whether a task is done. Null unless the item is a task. */
  readonly checked: boolean | null;
  readonly children: readonly (BlockNode | InlineNode)[];
}

export interface TableNode {
  readonly kind: "table";
  readonly align: readonly Alignment[];
  readonly header: readonly (readonly InlineNode[])[];
  readonly rows: readonly (readonly (readonly InlineNode[])[])[];
}

export type Alignment = "left" | "center" | "right" | null;

export type InlineNode =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "inline-code"; readonly text: string }
  | { readonly kind: "strong" | "emphasis" | "deleted"; readonly children: readonly InlineNode[] }
  | { readonly kind: "link"; readonly href: string; readonly children: readonly InlineNode[] }
  /** An image is a link: the page loads nothing from other hosts. */
  | { readonly kind: "image"; readonly href: string | null; readonly alt: string }
  | { readonly kind: "break" };

/** Parses a block. A block which would be slow to parse, or nested too deep, becomes plain text. */
export function lexBlock(source: string, definitions: LinkDefinitions): readonly BlockNode[] {
  if (isTooComplex(source)) return [{ kind: "plain", text: source.trimEnd() }];
  const lexer = new Lexer({ gfm: true });
  for (const [label, { href, title }] of definitions)
    lexer.tokens.links[label] = { href, title: title ?? null };
  return toBlocks(lexer.lex(source));
}

/** Whether a block may contain a link to a definition, so that a new definition may change the block. */
export function mayUseDefinitions(source: string): boolean {
  return /\[[^[\]]+\](?!\()/.test(source);
}

/**
 * The lexer is recursive for nested containers, and takes quadratic time for unmatched delimiters. The limits are far
 * above those of texts for people; at the limits, a block takes some milliseconds.
 */
function isTooComplex(source: string): boolean {
  if (DEEP_CONTAINERS.test(source) || DEEP_LIST.test(source)) return true;
  let delimiters = 0;
  for (let at = 0; at < source.length; at++) {
    if (isDelimiter(source.charCodeAt(at))) delimiters += 1;
    if (delimiters > MAX_DELIMITERS) return true;
  }
  return false;
}

const MAX_DELIMITERS = 1200;
const DELIMITERS = new Set(Array.from("[]*_~<`!", (character) => character.charCodeAt(0)));
const DEEP_CONTAINERS = /^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))){9}/m;
const DEEP_LIST = /^(?:\t{9}|[ \t]{30})[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]/m;

function isDelimiter(code: number): boolean {
  return DELIMITERS.has(code);
}

function toBlocks(tokens: readonly Token[]): BlockNode[] {
  return tokens.flatMap((token) => toBlock(token) ?? []);
}

/** Returns undefined for tokens which show nothing. */
function toBlock(token: Token): BlockNode | undefined {
  if (isToken(token, "heading"))
    return { kind: "heading", depth: token.depth, children: toInlines(token.tokens) };
  if (isToken(token, "paragraph")) return { kind: "paragraph", children: toInlines(token.tokens) };
  if (isToken(token, "text"))
    return { kind: "paragraph", children: toInlines(token.tokens ?? [token]) };
  if (isToken(token, "code"))
    return { kind: "code", language: token.lang?.split(/[\s{,]/, 1)[0] ?? "", code: token.text };
  if (isToken(token, "blockquote")) return { kind: "quote", children: toBlocks(token.tokens) };
  if (isToken(token, "list")) return toList(token);
  if (isToken(token, "table")) return toTable(token);
  if (isToken(token, "hr")) return { kind: "rule" };
  if (isToken(token, "space") || isToken(token, "def") || isToken(token, "checkbox"))
    return undefined;
  return { kind: "plain", text: token.raw.trimEnd() };
}

function toList({ ordered, start, items }: Tokens.List): ListNode {
  return {
    kind: "list",
    start: ordered ? Number(start) : null,
    items: items.map(({ task, checked = false, loose, tokens }) => ({
      checked: task ? checked : null,
      // The text of a tight item is not a paragraph.
      children: tokens.flatMap((token): readonly (BlockNode | InlineNode)[] =>
        !loose && isToken(token, "text") ? toInlines(token.tokens ?? [token]) : toBlocks([token]),
      ),
    })),
  };
}

function toTable({ align, header, rows }: Tokens.Table): TableNode {
  return {
    kind: "table",
    align,
    header: header.map((cell) => toInlines(cell.tokens)),
    rows: rows.map((row) => row.map((cell) => toInlines(cell.tokens))),
  };
}

function toInlines(tokens: readonly Token[]): InlineNode[] {
  return tokens.flatMap((token): InlineNode | readonly InlineNode[] => {
    if (isToken(token, "strong")) return { kind: "strong", children: toInlines(token.tokens) };
    if (isToken(token, "em")) return { kind: "emphasis", children: toInlines(token.tokens) };
    if (isToken(token, "del")) return { kind: "deleted", children: toInlines(token.tokens) };
    if (isToken(token, "codespan")) return { kind: "inline-code", text: token.text };
    if (isToken(token, "br")) return { kind: "break" };
    if (isToken(token, "link")) return toLink(token);
    if (isToken(token, "image")) {
      const alt = decodeEntities(token.text);
      return { kind: "image", href: toSafeLink(decodeEntities(token.href)), alt };
    }
    if (isToken(token, "escape")) return { kind: "text", text: token.text };
    if (isToken(token, "text")) return { kind: "text", text: decodeEntities(token.text) };
    if (isToken(token, "checkbox")) return [];
    return { kind: "text", text: token.raw };
  });
}

/** A link with another scheme, or without, is shown as written. */
function toLink(token: Tokens.Link): InlineNode {
  const href = toSafeLink(token.autolink === true ? token.href : decodeEntities(token.href));
  if (href === null) return { kind: "text", text: token.raw };
  const children = token.autolink === true ? [toText(token.text)] : toInlines(token.tokens);
  return { kind: "link", href, children };
}

function toText(text: string): InlineNode {
  return { kind: "text", text };
}

interface TokenTypes {
  readonly heading: Tokens.Heading;
  readonly paragraph: Tokens.Paragraph;
  readonly text: Tokens.Text;
  readonly code: Tokens.Code;
  readonly blockquote: Tokens.Blockquote;
  readonly list: Tokens.List;
  readonly table: Tokens.Table;
  readonly hr: Tokens.Hr;
  readonly space: Tokens.Space;
  readonly def: Tokens.Def;
  readonly checkbox: Tokens.Checkbox;
  readonly strong: Tokens.Strong;
  readonly em: Tokens.Em;
  readonly del: Tokens.Del;
  readonly codespan: Tokens.Codespan;
  readonly br: Tokens.Br;
  readonly link: Tokens.Link;
  readonly image: Tokens.Image;
  readonly escape: Tokens.Escape;
}

/** The lexer's own union includes a type for extensions, which defeats narrowing by `type`. */
function isToken<Type extends keyof TokenTypes>(
  token: Token,
  type: Type,
): token is TokenTypes[Type] & Token {
  return token.type === type;
}
