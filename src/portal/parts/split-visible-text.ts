/** A piece of text. An escape stands for one invisible character. */
export interface TextSegment {
  readonly text: string;
  readonly isEscape: boolean;
}

/**
 * - `prose`: text of people and models. Line breaks, tabs and the marks of right-to-left scripts are kept; characters
 *   which reorder other text become escapes.
 * - `code`: code, arguments and output. All invisible characters but line breaks and tabs become escapes.
 * - `name`: names and titles on one line. Line breaks and tabs become escapes too.
 */
export type TextKind = "prose" | "code" | "name";

/** Splits untrusted text so that no character can hide or reorder the text around it. */
export function splitVisibleText(text: string, kind: TextKind): readonly TextSegment[] {
  const pattern = PATTERNS[kind];
  if (!pattern.test(text)) return [{ text, isEscape: false }];
  return text
    .split(new RegExp(`(${pattern.source})`, "u"))
    .map((piece, index) =>
      index % 2 === 0
        ? { text: piece, isEscape: false }
        : { text: formatCodePoint(piece), isEscape: true },
    )
    .filter((segment) => segment.text !== "");
}

/** Returns the text with escapes, for titles and labels without markup. */
export function toVisibleText(text: string, kind: TextKind = "name"): string {
  return splitVisibleText(text, kind)
    .map((segment) => (segment.isEscape ? `[${segment.text}]` : segment.text))
    .join("");
}

function formatCodePoint(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return NAMES.get(code) ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}

const NAMES: ReadonlyMap<number, string> = new Map([
  [0x09, "tab"],
  [0x0a, "line break"],
  [0x0d, "return"],
  [0x1b, "ESC"],
]);

/* oxlint-disable no-control-regex -- the patterns match control characters */
const CONTROLS = "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]";
const REORDERING = "[\\u202a-\\u202e\\u2066-\\u2069]";
/** Zero-width characters, except the joiner and the variation selector inside emoji. */
const INVISIBLE =
  "[\\u061c\\u2028\\u2029]|(?!\\u200d|\\ufe0f)\\p{Default_Ignorable_Code_Point}" +
  "|(?<!\\p{Extended_Pictographic}(?:\\ufe0f|\\p{Emoji_Modifier})?)\\u200d|(?<!\\p{Emoji})\\ufe0f";

const PATTERNS: { readonly [Kind in TextKind]: RegExp } = {
  prose: new RegExp(`${CONTROLS}|${REORDERING}`, "u"),
  code: new RegExp(`${CONTROLS}|${REORDERING}|${INVISIBLE}`, "u"),
  name: new RegExp(`[\\t\\n]|${CONTROLS}|${REORDERING}|${INVISIBLE}`, "u"),
};
