import type { PromptPart } from "./prompt.ts";

/** What a session is called that nobody gave a title: the first words that were said in it. Undefined where there are none. */
export function deriveTitle(content: readonly PromptPart[]): string | undefined {
  for (const part of content) {
    const text = part.type === "text" ? part.text.slice(0, MAX_SCANNED_LENGTH).trim() : "";
    const [line = ""] = text.split(/[\r\n]/);
    const words = line.replaceAll(/\s+/g, " ").trim();
    if (words !== "")
      return words.length > MAX_TITLE_LENGTH
        ? `${words.slice(0, MAX_TITLE_LENGTH - 1).trimEnd()}…`
        : words;
  }
  return undefined;
}

const MAX_TITLE_LENGTH = 80;
/** Characters: nobody reads a file through for a title. */
const MAX_SCANNED_LENGTH = 1000;
