import { textOf, type Message } from "../message.ts";
import { wordsIn } from "./words.ts";

/** How much of a message the demo agent listens to: what a person types, and little enough that no text keeps it busy. */
export const HEARD_CHARACTERS = 2000;

/** A prompt as the demo agent takes it, split into words once. */
export interface Heard {
  readonly text: string;
  readonly words: ReadonlySet<string>;
}

export function heard(message: Message | undefined): Heard {
  const text = heardText(message);
  return { text, words: new Set(wordsIn(text)) };
}

/** The beginning of a message's text, without the half of a character that a cut may leave. */
export function heardText(message: Message | undefined): string {
  const text = textOf(message);
  if (text.length <= HEARD_CHARACTERS) return text;
  return text.slice(0, HEARD_CHARACTERS).replace(/[\uD800-\uDBFF]$/, "");
}
