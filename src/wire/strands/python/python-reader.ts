/** The reading position in a literal, with the findings so far. */
export interface PythonReader {
  readonly text: string;
  position: number;
  /** Number of character visits, to test for linear cost. */
  steps: number;
  depth: number;
  /** True after a value without a JSON form. */
  hasForeignValues: boolean;
  /** The reason why reading stopped. Null while reading continues. */
  problem: string | null;
}

/** Returns the next non-whitespace character. Empty at the end. */
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
