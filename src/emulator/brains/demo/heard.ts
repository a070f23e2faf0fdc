import { textsOf, type Message } from "../message.ts";
import { recoveryIn } from "./recovery.ts";
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

/** The last paragraph of a message, where people ask what they want; of a long one its beginning, in whole characters. */
export function heardText(message: Message | undefined): string {
  // A prompt that is repeated after a loss is a prompt; a result that is repeated is none.
  const said = textsOf(message).map((text) => recoveryIn(text)?.prompt ?? text);
  const text = lastParagraph(said.filter((one) => one !== "").join("\n"));
  if (text.length <= HEARD_CHARACTERS) return text;
  return text.slice(0, HEARD_CHARACTERS).replace(/[\uD800-\uDBFF]$/, "");
}

function lastParagraph(text: string): string {
  const said = text.trimEnd();
  return said.slice(said.lastIndexOf("\n\n") + 1).trimStart();
}
