import { readTexts, type Message } from "../session-message.ts";
import { parseRecovery } from "./parse-recovery.ts";
import { extractWords } from "./extract-words.ts";

/**
 * The maximum of characters read per message: enough for typed text, and small enough to limit the time for hostile
 * text.
 */
export const MAX_PROMPT_CHARACTERS = 2000;

/** A prompt for the demo agent, split into words once. */
export interface DemoPrompt {
  readonly text: string;
  readonly words: ReadonlySet<string>;
}

export function readDemoPrompt(message: Message | undefined): DemoPrompt {
  const text = readPromptText(message);
  return { text, words: new Set(extractWords(text)) };
}

/**
 * The last paragraph of a message, which usually contains the request. A long paragraph is cut without splitting a
 * character.
 */
export function readPromptText(message: Message | undefined): string {
  // A recovery message contains the original prompt; a repeated tool result does not count as a prompt.
  const texts = readTexts(message).map((text) => parseRecovery(text)?.prompt ?? text);
  const text = readLastParagraph(texts.filter((one) => one !== "").join("\n"));
  if (text.length <= MAX_PROMPT_CHARACTERS) return text;
  return text.slice(0, MAX_PROMPT_CHARACTERS).replace(/[\uD800-\uDBFF]$/, "");
}

function readLastParagraph(text: string): string {
  const trimmedText = text.trimEnd();
  return trimmedText.slice(trimmedText.lastIndexOf("\n\n") + 1).trimStart();
}
