import type { PromptPart } from "../prompt.ts";

/** Returns the default title of a session: the first line of its first prompt. Undefined if the prompt has no text. */
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
/** Characters. Limits the work for a long prompt, such as a pasted file. */
const MAX_SCANNED_LENGTH = 1000;
