import { readTexts, type Message } from "../session-message.ts";
import { parseRecovery } from "./parse-recovery.ts";
import { extractWords } from "./extract-words.ts";

/** How much of a message the demo agent listens to: what a person types, and little enough that no text keeps it busy. */
export const MAX_PROMPT_CHARACTERS = 2000;

/** A prompt as the demo agent takes it, split into words once. */
export interface DemoPrompt {
  readonly text: string;
  readonly words: ReadonlySet<string>;
}

export function readDemoPrompt(message: Message | undefined): DemoPrompt {
  const text = readPromptText(message);
  return { text, words: new Set(extractWords(text)) };
}

/** The last paragraph of a message, where people ask what they want; of a long one its beginning, in whole characters. */
export function readPromptText(message: Message | undefined): string {
  // A prompt that is repeated after a loss is a prompt; a result that is repeated is none.
  const texts = readTexts(message).map((text) => parseRecovery(text)?.prompt ?? text);
  const text = readLastParagraph(texts.filter((one) => one !== "").join("\n"));
  if (text.length <= MAX_PROMPT_CHARACTERS) return text;
  return text.slice(0, MAX_PROMPT_CHARACTERS).replace(/[\uD800-\uDBFF]$/, "");
}

function readLastParagraph(text: string): string {
  const trimmedText = text.trimEnd();
  return trimmedText.slice(trimmedText.lastIndexOf("\n\n") + 1).trimStart();
}
