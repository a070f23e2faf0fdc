import type { Mark, Piece } from "./mark-style.ts";

/** The recognized start of a line: its length in the source, and the formatted pieces. */
export interface InlineMatch {
  readonly length: number;
  readonly pieces: readonly Piece[];
}

/**
 * Reads the start of a line as far as it is certain. Undefined if later input decides. An opening mark is matched
 * within `MAX_LOOKAHEAD` characters only; without a closing mark there, the opening mark is literal text.
 */
export function readInline(
  source: string,
  previous: string,
  isComplete: boolean,
): InlineMatch | undefined {
  const text = source.slice(0, MAX_LOOKAHEAD);
  const isCertain = isComplete || source.length >= MAX_LOOKAHEAD;
  const plainText = PLAIN.exec(text)?.[0];
  if (plainText !== undefined) return createLiteral(plainText);
  if (text === "") return undefined;
  const match = readSpecial(text, previous, isCertain);
  if (match === "nothing") return createLiteral(RUN.exec(text)?.[0] ?? text.slice(0, 1));
  return match;
}

/** Parses a whole line. */
export function parseInline(line: string, marks: readonly Mark[] = []): Piece[] {
  const pieces: Piece[] = [];
  for (let at = 0; at < line.length;) {
    const match = readInline(line.slice(at), line.charAt(at - 1), true);
    if (match === undefined) break;
    pieces.push(...match.pieces.map((piece) => ({ ...piece, marks: [...piece.marks, ...marks] })));
    at += match.length;
  }
  return pieces;
}

/** Formats an unfinished line for display: an opening mark counts although its closing mark has not arrived. */
export function parseProvisional(rest: string): Piece[] {
  const [, opening = "", text = ""] = /^(\*{1,3}|_{1,3}|~~|`+)?(.*)$/s.exec(rest) ?? [];
  return text === "" ? [] : [{ text, marks: MARKS.get(opening) ?? [] }];
}

const MAX_LOOKAHEAD = 600;
const PLAIN = /^[^\\`*_~[!<]+/;
const RUN = /^(?:`+|\*+|_+|~+)/;
const MARKS: ReadonlyMap<string, readonly Mark[]> = new Map<string, readonly Mark[]>([
  ["*", ["emphasis"]],
  ["_", ["emphasis"]],
  ["**", ["strong"]],
  ["__", ["strong"]],
  ["***", ["strong", "emphasis"]],
  ["___", ["strong", "emphasis"]],
  ["~~", ["struck"]],
  ["`", ["code"]],
  ["``", ["code"]],
]);

/** "nothing" if the character is literal; undefined if later input decides. */
type ReadResult = InlineMatch | "nothing" | undefined;

function readSpecial(text: string, previous: string, isCertain: boolean): ReadResult {
  switch (text[0]) {
    case "\\":
      return readEscape(text, isCertain);
    case "`":
      return readCode(text, isCertain);
    case "[":
      return readLink(text, 0, isCertain);
    case "!":
      if (text.length === 1) return isCertain ? "nothing" : undefined;
      return text[1] === "[" ? readLink(text, 1, isCertain) : "nothing";
    case "<":
      return readAddress(text, isCertain);
    default:
      return readEmphasis(text, previous, isCertain);
  }
}

function createLiteral(text: string): InlineMatch {
  return { length: text.length, pieces: [{ text, marks: [] }] };
}

function readEscape(text: string, isCertain: boolean): ReadResult {
  const [, sign] = text;
  if (sign === undefined) return isCertain ? "nothing" : undefined;
  return /[!-/:-@[-`{-~]/.test(sign)
    ? { length: 2, pieces: [{ text: sign, marks: [] }] }
    : "nothing";
}

function readCode(text: string, isCertain: boolean): ReadResult {
  const [run = ""] = /^`+/.exec(text) ?? [];
  if (run.length === text.length) return isCertain ? "nothing" : undefined;
  for (const { 0: closingRun, index } of text.slice(run.length).matchAll(/`+/g)) {
    const end = run.length + index + closingRun.length;
    if (end === text.length && !isCertain) return undefined;
    if (closingRun.length !== run.length) continue;
    const inside = text.slice(run.length, end - run.length);
    const code = /^ .*[^ ].* $/.test(inside) ? inside.slice(1, -1) : inside;
    return { length: end, pieces: [{ text: code, marks: ["code"] }] };
  }
  return isCertain ? "nothing" : undefined;
}

function readEmphasis(text: string, previous: string, isCertain: boolean): ReadResult {
  const [run = ""] = /^(?:\*+|_+|~+)/.exec(text) ?? [];
  const next = text[run.length];
  if (next === undefined) return isCertain ? "nothing" : undefined;
  const marks = MARKS.get(run);
  const isInWord = run.startsWith("_") && WORD.test(previous);
  if (marks === undefined || isInWord || /\s/.test(next)) return "nothing";
  const end = findClosing(text, run, isCertain);
  if (end === undefined) return isCertain ? "nothing" : undefined;
  const pieces = parseInline(text.slice(run.length, end), marks);
  return { length: end + run.length, pieces };
}

const WORD = /[\p{L}\p{N}]/u;

/** Finds the closing run of the same characters, outside code and after text. */
function findClosing(text: string, run: string, isCertain: boolean): number | undefined {
  const sign = run[0] ?? "";
  for (let at = run.length; at < text.length; at += 1) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "`") {
      const code = readCode(text.slice(at), isCertain);
      if (code === undefined) return undefined;
      const ticks = /^`+/.exec(text.slice(at))?.[0].length ?? 1;
      at += (code === "nothing" ? ticks : code.length) - 1;
    } else if (text[at] === sign) {
      let end = at;
      while (text[end] === sign) end += 1;
      if (end === text.length && !isCertain) return undefined;
      const isFitting = end - at === run.length || (run.length < 3 && end - at === 3);
      const followsText = !/\s/.test(text[at - 1] ?? " ");
      const isInWord = sign === "_" && WORD.test(text[end] ?? "");
      if (isFitting && followsText && !isInWord) return end - run.length;
      at = end - 1;
    }
  }
  return undefined;
}

/** Reads a link or an image: its name and its URL. */
function readLink(text: string, from: number, isCertain: boolean): ReadResult {
  const [whole, name, address = ""] = LINK.exec(text.slice(from)) ?? [];
  if (whole === undefined || name === undefined) {
    const isNone = /^\[(?:[^[\]\\]|\\.)*\][^(]/.test(text.slice(from));
    return isCertain || isNone ? "nothing" : undefined;
  }
  const pieces = parseInline(name, ["link"]);
  const label =
    name === "" || name === address ? [] : [{ text: ` (${address})`, marks: ["dim"] } as const];
  const named = name === "" ? [{ text: address, marks: ["link"] } as const] : pieces;
  return { length: from + whole.length, pieces: [...named, ...label] };
}

const LINK =
  /^\[((?:[^[\]\\]|\\.|\[[^[\]]*\])*)\]\(\s*<?([^\s()<>]*(?:\([^\s()]*\)[^\s()<>]*)*)>?(?:\s+"[^"]*")?\s*\)/;

function readAddress(text: string, isCertain: boolean): ReadResult {
  const [whole, address] = /^<((?:https?:\/\/|mailto:)[^\s<>]+)>/.exec(text) ?? [];
  if (whole !== undefined && address !== undefined) {
    return { length: whole.length, pieces: [{ text: address, marks: ["link"] }] };
  }
  const mayBe = /^<(?:h?t?t?p?s?:?\/?\/?|https?:\/\/[^\s<>]*|m?a?i?l?t?o?:?|mailto:[^\s<>]*)$/.test(
    text,
  );
  return mayBe && !isCertain ? undefined : "nothing";
}
