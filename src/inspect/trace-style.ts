/** Styles for parts of a trace. Each function returns its input unchanged if colours are off. */
export interface Style {
  readonly strong: Paint;
  readonly dim: Paint;
  readonly good: Paint;
  readonly note: Paint;
  readonly warn: Paint;
  readonly bad: Paint;
}

type Paint = (text: string) => string;

const identity = (text: string): string => text;

/** No colours, for files and pipes. */
export const PLAIN_STYLE: Style = {
  strong: identity,
  dim: identity,
  good: identity,
  note: identity,
  warn: identity,
  bad: identity,
};

/**
 * Escapes control characters and bidirectional marks, so that a stream cannot control the terminal which displays it.
 * Line feeds and tabs are kept.
 */
export function escapeControls(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}

/* oxlint-disable no-control-regex -- control characters are what this is about */
/**
 * Escapes text for a single line: a name with a line break could forge the lines below it. Invisible characters are
 * escaped too, so that names which look equal are equal.
 */
export function toSingleLine(text: string): string {
  return escapeControls(text).replace(INVISIBLE, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** Line breaks and zero-width characters, except joiners inside emoji sequences, which have a visible effect. */
const INVISIBLE =
  /[\n\t\u2028\u2029]|(?!\u200d|\ufe0f)\p{Default_Ignorable_Code_Point}|(?<!\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)\u200d|(?<!\p{Emoji})\ufe0f/gu;

const UNPRINTABLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
