/** Measures a text in terminal columns. The text must not contain line ends or escape sequences. */
export function measureText(text: string): number {
  if (NARROW.test(text)) return text.length;
  return splitCharacters(text).reduce((width, sign) => width + measureCharacter(sign), 0);
}

/** Cuts a text to a number of columns, with an ellipsis at the end. */
export function cutToWidth(text: string, columns: number): string {
  if (measureText(text) <= columns) return text;
  let short = "";
  let usedWidth = 1;
  for (const sign of splitCharacters(text)) {
    usedWidth += measureCharacter(sign);
    if (usedWidth > columns) break;
    short += sign;
  }
  return `${short}…`;
}

/** Splits a text into user-perceived characters: letters with accents, emoji of several code points. */
export function splitCharacters(text: string): string[] {
  return NARROW.test(text)
    ? text.split("")
    : [...SEGMENTER.segment(text)].map((segment) => segment.segment);
}

export function measureCharacter(sign: string): number {
  if (INVISIBLE.test(sign)) return 0;
  if (EMOJI.test(sign)) return 2;
  const code = sign.codePointAt(0) ?? 0;
  return WIDE_RANGES.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}

const SEGMENTER = new Intl.Segmenter();
const NARROW = /^[ -~]*$/;
const INVISIBLE = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
const EMOJI = /\p{Emoji_Presentation}|\ufe0f/u;

/** Unicode's East Asian Width, in coarse ranges. */
const WIDE_RANGES: readonly (readonly [from: number, to: number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x4dbf],
  [0x4e00, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x20000, 0x3fffd],
];
