import { isWordPart, type PythonReader } from "./python-reader.ts";

/** An object without a literal form: `<Agent object at 0x…>`. */
export interface Opaque {
  readonly kind: "opaque";
  /** The first 120 characters. */
  readonly text: string;
}

export function createOpaque(reader: PythonReader, text: string): Opaque {
  reader.hasForeignValues = true;
  return { kind: "opaque", text };
}

/** Reads `<…>`. The text may contain nested angle brackets and unbalanced quotes: `<Foo of it's owner>`. */
export function readAngleBrackets(reader: PythonReader): Opaque {
  const start = reader.position;
  let level = 0;
  for (; reader.position < reader.text.length; reader.position++) {
    const character = reader.text[reader.position];
    if (isOpeningQuote(reader)) skipQuoted(reader);
    else if (character === "<") level += 1;
    else if (character === ">" && reader.text[reader.position - 1] !== "-") level -= 1;
    if (level === 0) break;
  }
  reader.position += 1;
  reader.steps += reader.position - start;
  if (reader.position > reader.text.length) reader.problem = "It ends inside an object";
  return createOpaque(
    reader,
    reader.text.slice(start, Math.min(reader.position, start + MAX_OPAQUE_LENGTH)),
  );
}

const MAX_OPAQUE_LENGTH = 120;

/** Skips a value which is not a literal, up to the comma or closing bracket at its end. */
export function skipValue(reader: PythonReader): Opaque {
  const start = reader.position;
  let level = 0;
  for (; reader.position < reader.text.length; reader.position++) {
    const character = reader.text[reader.position] ?? "";
    if (isOpeningQuote(reader)) skipQuoted(reader);
    else if ("([{".includes(character)) level += 1;
    else if (level === 0 && ",)]}".includes(character)) break;
    else if (")]}".includes(character)) level -= 1;
  }
  reader.steps += reader.position - start;
  if (reader.position >= reader.text.length) reader.problem = "It ends inside a value";
  return createOpaque(
    reader,
    reader.text.slice(start, Math.min(reader.position, start + MAX_OPAQUE_LENGTH)),
  );
}

/** An apostrophe inside a word does not open a string. */
function isOpeningQuote({ text, position }: PythonReader): boolean {
  const character = text[position];
  return (character === "'" || character === '"') && !isWordPart(text[position - 1] ?? "");
}

/** Moves the reader to the closing quote. */
function skipQuoted(reader: PythonReader): void {
  const quote = reader.text[reader.position];
  const start = reader.position;
  for (reader.position += 1; reader.position < reader.text.length; reader.position++) {
    const character = reader.text[reader.position];
    if (character === "\\") reader.position += 1;
    else if (character === quote) break;
  }
  reader.steps += reader.position - start;
}
