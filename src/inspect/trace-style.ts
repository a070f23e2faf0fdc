/** How parts of a trace are set off; each is the identity where there are no colours. */
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

export const PLAIN_STYLE: Style = {
  strong: identity,
  dim: identity,
  good: identity,
  note: identity,
  warn: identity,
  bad: identity,
};

/**
 * What a stream says must not steer the terminal that shows it: control characters, and the marks that reverse the
 * direction of text, are shown as escapes. Line feeds and tabs stay.
 */
export function escapeControls(text: string): string {
  return text.replace(UNPRINTABLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
}

/* oxlint-disable no-control-regex -- control characters are what this is about */
/**
 * The same for what must stay on one line: a name with a line end could forge the lines below it. Neither may it have
 * anything in it that nobody sees, so that two names that look the same are the same.
 */
export function toSingleLine(text: string): string {
  return escapeControls(text).replace(INVISIBLE, (character) => {
    return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
  });
}

/** Line ends, and what has no width. What joins two pictures to one is seen. */
const INVISIBLE =
  /[\n\t\u2028\u2029]|(?!\u200d|\ufe0f)\p{Default_Ignorable_Code_Point}|(?<!\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?)\u200d|(?<!\p{Emoji})\ufe0f/gu;

const UNPRINTABLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
