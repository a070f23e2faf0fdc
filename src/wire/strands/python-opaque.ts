import { isWordPart, type Reader } from "./python-reader.ts";

/** An object that only Python could read back: `<Agent object at 0x…>`. */
export interface Opaque {
  readonly kind: "opaque";
  /** How it begins. */
  readonly text: string;
}

export function opaque(reader: Reader, text: string): Opaque {
  reader.foreign = true;
  return { kind: "opaque", text };
}

/** `<…>`, where the text may hold more of them, and quotes that need not match: `<Foo of it's owner>`. */
export function readAngle(reader: Reader): Opaque {
  const start = reader.at;
  let level = 0;
  for (; reader.at < reader.text.length; reader.at++) {
    const character = reader.text[reader.at];
    if (opensQuote(reader)) passQuoted(reader);
    else if (character === "<") level += 1;
    else if (character === ">" && reader.text[reader.at - 1] !== "-") level -= 1;
    if (level === 0) break;
  }
  reader.at += 1;
  reader.steps += reader.at - start;
  if (reader.at > reader.text.length) reader.problem = "It ends inside an object";
  return opaque(reader, reader.text.slice(start, Math.min(reader.at, start + KEPT_OF_OPAQUE)));
}

const KEPT_OF_OPAQUE = 120;

/** Passes what is no literal, up to the comma or closing bracket that ends it. */
export function passOver(reader: Reader): Opaque {
  const start = reader.at;
  let level = 0;
  for (; reader.at < reader.text.length; reader.at++) {
    const character = reader.text[reader.at] ?? "";
    if (opensQuote(reader)) passQuoted(reader);
    else if ("([{".includes(character)) level += 1;
    else if (level === 0 && ",)]}".includes(character)) break;
    else if (")]}".includes(character)) level -= 1;
  }
  reader.steps += reader.at - start;
  if (reader.at >= reader.text.length) reader.problem = "It ends inside a value";
  return opaque(reader, reader.text.slice(start, Math.min(reader.at, start + KEPT_OF_OPAQUE)));
}

/** An apostrophe inside a word opens nothing. */
function opensQuote({ text, at }: Reader): boolean {
  const character = text[at];
  return (character === "'" || character === '"') && !isWordPart(text[at - 1] ?? "");
}

/** Leaves the reader on the closing quote. */
function passQuoted(reader: Reader): void {
  const quote = reader.text[reader.at];
  const start = reader.at;
  for (reader.at += 1; reader.at < reader.text.length; reader.at++) {
    const character = reader.text[reader.at];
    if (character === "\\") reader.at += 1;
    else if (character === quote) break;
  }
  reader.steps += reader.at - start;
}
