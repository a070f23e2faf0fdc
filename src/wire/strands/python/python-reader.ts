/** A place in the text of a literal, and what was found on the way there. */
export interface PythonReader {
  readonly text: string;
  position: number;
  /** Characters looked at, each time one was. */
  steps: number;
  depth: number;
  /** Something was met that JSON cannot hold. */
  hasForeignValues: boolean;
  /** Why reading cannot go on. */
  problem: string | null;
}

/** The next character that is not a space; empty at the end. */
export function peek(reader: PythonReader): string {
  const { text } = reader;
  const start = reader.position;
  while (isSpace(text.charCodeAt(reader.position))) reader.position += 1;
  reader.steps += reader.position - start + 1;
  return text[reader.position] ?? "";
}

export function takeWhile(reader: PythonReader, matches: (character: string) => boolean): string {
  const start = reader.position;
  while (reader.position < reader.text.length && matches(reader.text[reader.position] ?? ""))
    reader.position += 1;
  reader.steps += reader.position - start;
  return reader.text.slice(start, reader.position);
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
