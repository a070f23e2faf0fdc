/** A place in the text of a literal, and what was found on the way there. */
export interface Reader {
  readonly text: string;
  at: number;
  /** Characters looked at, each time one was. */
  steps: number;
  depth: number;
  /** Something was met that JSON cannot hold. */
  foreign: boolean;
  /** Why reading cannot go on. */
  problem: string | null;
}

/** The next character that is not a space; empty at the end. */
export function peek(reader: Reader): string {
  const { text } = reader;
  const start = reader.at;
  while (isSpace(text.charCodeAt(reader.at))) reader.at += 1;
  reader.steps += reader.at - start + 1;
  return text[reader.at] ?? "";
}

export function take(reader: Reader, belongs: (character: string) => boolean): string {
  const start = reader.at;
  while (reader.at < reader.text.length && belongs(reader.text[reader.at] ?? "")) reader.at += 1;
  reader.steps += reader.at - start;
  return reader.text.slice(start, reader.at);
}

export function isDigit(character: string): boolean {
  return character >= "0" && character <= "9";
}

export function isWordStart(character: string): boolean {
  return /^[\p{L}_]/u.test(character);
}

export function isWordPart(character: string): boolean {
  return character === "." || /^[\p{L}\p{N}_]/u.test(character);
}

export function isNumberPart(character: string): boolean {
  return /^[\w.+-]/.test(character);
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}
