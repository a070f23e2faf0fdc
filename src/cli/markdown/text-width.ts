/** How many columns a text takes on a terminal. It has no line ends and no escapes in it. */
export function textWidth(text: string): number {
  if (NARROW.test(text)) return text.length;
  return signsOf(text).reduce((width, sign) => width + signWidth(sign), 0);
}

/** A text on one row: what there is no room for gives way to an ellipsis. */
export function cut(text: string, columns: number): string {
  if (textWidth(text) <= columns) return text;
  let short = "";
  let used = 1;
  for (const sign of signsOf(text)) {
    used += signWidth(sign);
    if (used > columns) break;
    short += sign;
  }
  return `${short}…`;
}

/** What people see as single signs: letters with their accents, pictures of several parts. */
export function signsOf(text: string): string[] {
  return NARROW.test(text)
    ? text.split("")
    : [...SEGMENTER.segment(text)].map((one) => one.segment);
}

export function signWidth(sign: string): number {
  if (UNSEEN.test(sign)) return 0;
  if (PICTURE.test(sign)) return 2;
  const code = sign.codePointAt(0) ?? 0;
  return WIDE.some(([from, to]) => code >= from && code <= to) ? 2 : 1;
}

const SEGMENTER = new Intl.Segmenter();
const NARROW = /^[ -~]*$/;
const UNSEEN = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
const PICTURE = /\p{Emoji_Presentation}|\ufe0f/u;

/** As Unicode's East Asian Width has it, in large pieces. */
const WIDE: readonly (readonly [from: number, to: number])[] = [
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
