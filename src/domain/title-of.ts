import type { PromptPart } from "./agent-event.ts";

/** What a session is called that nobody gave a title: the first words that were said in it. Undefined where there are none. */
export function titleOf(content: readonly PromptPart[]): string | undefined {
  for (const part of content) {
    const text = part.type === "text" ? part.text.slice(0, LOOKED_AT).trim() : "";
    const [line = ""] = text.split(/[\r\n]/);
    const words = line.replaceAll(/\s+/g, " ").trim();
    if (words !== "") return words.length > MOST ? `${words.slice(0, MOST - 1).trimEnd()}…` : words;
  }
  return undefined;
}

const MOST = 80;
/** Characters: nobody reads a file through for a title. */
const LOOKED_AT = 1000;
