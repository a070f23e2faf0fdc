import type { Message } from "../session-message.ts";
import { readPromptText } from "./demo-prompt.ts";

/** Answers a question about earlier messages. Null if the prompt is not such a question. */
export function answerFromMemory(messages: readonly Message[]): string | null {
  const prompt = readPromptText(messages.at(-1));
  const earlier = messages
    .slice(0, -1)
    .filter(({ role }) => role === "user")
    .map(readPromptText)
    .filter((text) => text !== "");
  if (
    matchesInOrder(prompt, /\bwhat\b/, /\b(?:is|was|'s)\b/, /\bmy name\b/) ||
    /\bwho am i\b|\bdo you (?:know|remember) my name\b/i.test(prompt)
  ) {
    const name = earlier.map(findName).findLast((found) => found !== null);
    return name === undefined ? "I do not know your name yet." : `Your name is ${name}.`;
  }
  if (/\bfirst\b/i.test(prompt) && asksForEarlierMessage(prompt)) {
    const [first] = earlier;
    return first === undefined
      ? "This is your first message."
      : `Your first message was: "${first}"`;
  }
  if (/\b(?:last|before|previous|just|earlier)\b/i.test(prompt) && asksForEarlierMessage(prompt)) {
    const last = earlier.at(-1);
    return last === undefined ? "This is your first message." : `You said: "${last}"`;
  }
  if (matchesInOrder(prompt, /\bhow many\b/, /\b(?:messages|times|things)\b/)) {
    return `You have sent me ${earlier.length + 1} message${earlier.length === 0 ? "" : "s"}.`;
  }
  if (
    matchesInOrder(prompt, /\bwhat\b/, /\b(?:ask(?:ed)?|tell|told)\b/, /\bremember\b/) ||
    /\bwhat (?:do|should) you remember\b/i.test(prompt)
  ) {
    const things = earlier.flatMap(
      (text) => /\bremember(?: that)?:?\s+(.+)/is.exec(text)?.[1] ?? [],
    );
    return things.length === 0
      ? "You have not asked me to remember anything."
      : `You asked me to remember: ${things.map((thing) => `"${thing}"`).join(", ")}.`;
  }
  return null;
}

function asksForEarlierMessage(prompt: string): boolean {
  return (
    matchesInOrder(prompt, /\bi\b/, /\b(?:say|said|ask|asked|tell|told|write|wrote)\b/) ||
    matchesInOrder(prompt, /\bmy\b/, /\b(?:message|question|prompt)\b/)
  );
}

/**
 * True if a line contains the patterns in this order, ignoring case. Each search starts at the end of the previous
 * match and never goes back, so the time is linear.
 */
function matchesInOrder(text: string, ...patterns: readonly RegExp[]): boolean {
  return text.split(/[\n\r]/).some((line) => {
    let position = 0;
    return patterns.every((pattern) => {
      const search = new RegExp(pattern, "gi");
      search.lastIndex = position;
      const isMatch = search.test(line);
      position = search.lastIndex;
      return isMatch;
    });
  });
}

/** The name in an introduction such as "my name is Ada". Null if there is none. */
export function findName(text: string): string | null {
  const match =
    /\b(?:my name is|my name's|call me|i am called)\s+([\p{L}'-]+)|\b(?:i am|i'm)\s+(\p{Lu}[\p{L}'-]+)/iu.exec(
      text,
    );
  const name = match?.[1] ?? match?.[2];
  const isName = name !== undefined && (match?.[1] !== undefined || /^\p{Lu}/u.test(name));
  return isName ? name.charAt(0).toUpperCase() + name.slice(1) : null;
}
