import { readBytes, readText, type Reader } from "./python-string.ts";

/** What `repr()` writes, as far as it can be read back. Sets and tuples are lists here. */
export type PythonValue =
  | null
  | boolean
  | number
  | string
  | readonly PythonValue[]
  | PythonDict
  | { readonly kind: "bytes"; readonly base64: string }
  | PythonCall
  /** An object that only Python could read back: `<Agent object at 0x…>`. */
  | { readonly kind: "opaque"; readonly text: string };

export type PythonDict = ReadonlyMap<string, PythonValue>;

/** `UUID('…')`, and dataclasses: `AgentResult(stop_reason='end_turn', message={…})`. */
export interface PythonCall {
  readonly kind: "call";
  readonly name: string;
  readonly positional: readonly PythonValue[];
  readonly keywords: PythonDict;
}

export interface LiteralOptions {
  /** Reading stops once all of these keys of the outermost dict are there and a foreign value was met. */
  readonly wanted?: ReadonlySet<string>;
  readonly maxCharacters?: number;
}

export type ReadLiteral =
  | {
      readonly ok: true;
      readonly dict: PythonDict;
      /** It holds something that JSON cannot: the reason why it came as a repr at all. */
      readonly foreign: boolean;
      /** Characters looked at, each time one was. */
      readonly steps: number;
    }
  | { readonly ok: false; readonly reason: string; readonly steps: number };

export const MAX_LITERAL_DEPTH = 64;
const DEFAULT_MAX_CHARACTERS = 8 * 1024 * 1024;

/**
 * Reads a dict as `repr()` wrote it. Only ever forwards: what is no literal is passed over up to the next comma or
 * closing bracket of its level and counts as opaque, so the work is linear whatever the text holds.
 */
export function readPythonDict(text: string, options: LiteralOptions = {}): ReadLiteral {
  const { wanted, maxCharacters = DEFAULT_MAX_CHARACTERS } = options;
  const reader: Reader = { text, at: 1, steps: 1, depth: 1, foreign: false, problem: null };
  if (!text.startsWith("{")) reader.problem = "It is no dict";
  if (text.length > maxCharacters) reader.problem = `It is longer than ${maxCharacters} characters`;
  const dict = new Map<string, PythonValue>();
  if (reader.problem === null) readEntries(reader, dict, wanted);
  const { problem, foreign, steps } = reader;
  return problem === null
    ? { ok: true, dict, foreign, steps }
    : { ok: false, reason: problem, steps };
}

function readEntries(
  reader: Reader,
  dict: Map<string, PythonValue>,
  wanted: ReadonlySet<string> | undefined,
): void {
  while (reader.problem === null && !closes(reader, "}")) {
    readEntry(reader, dict, readValue(reader));
    if (wanted !== undefined && reader.foreign && [...wanted].every((key) => dict.has(key))) return;
  }
  if (reader.problem === null && peek(reader) !== "") {
    reader.problem = "Text follows behind its end";
  }
}

function readEntry(reader: Reader, dict: Map<string, PythonValue>, key: PythonValue): void {
  if (peek(reader) === ":") {
    reader.at += 1;
    dict.set(nameOf(key), readValue(reader));
  }
  separate(reader, "}");
}

function nameOf(key: PythonValue): string {
  return typeof key === "object" && key !== null ? "?" : String(key);
}

function readValue(reader: Reader): PythonValue {
  const value = readStart(reader);
  if (reader.problem !== null || DELIMITERS.includes(peek(reader))) return value;
  // Something like `1 of 2`: no literal after all.
  return passOver(reader);
}

const DELIMITERS = ",:)]}";

function readStart(reader: Reader): PythonValue {
  const first = peek(reader);
  switch (first) {
    case "":
      reader.problem = "It ends inside a value";
      return null;
    case "'":
    case '"':
      return readText(reader);
    case "{":
      return nested(reader, readBraces);
    case "[":
      return nested(reader, (inner) => readItems(inner, "]"));
    case "(":
      return nested(reader, (inner) => readItems(inner, ")"));
    case "<":
      return readAngle(reader);
    default:
      if (isDigit(first) || first === "-" || first === ".") return readNumber(reader);
      return isWordStart(first) ? readWord(reader) : passOver(reader);
  }
}

function nested(reader: Reader, read: (reader: Reader) => PythonValue): PythonValue {
  if (reader.depth >= MAX_LITERAL_DEPTH) {
    reader.problem = `It is nested deeper than ${MAX_LITERAL_DEPTH} levels`;
    return null;
  }
  reader.at += 1;
  reader.depth += 1;
  const value = read(reader);
  reader.depth -= 1;
  return value;
}

/** A dict or a set: the first item tells. */
function readBraces(reader: Reader): PythonValue {
  const dict = new Map<string, PythonValue>();
  if (closes(reader, "}")) return dict;
  const first = readValue(reader);
  if (peek(reader) !== ":") {
    separate(reader, "}");
    return [first, ...readItems(reader, "}")];
  }
  readEntry(reader, dict, first);
  while (reader.problem === null && !closes(reader, "}"))
    readEntry(reader, dict, readValue(reader));
  return dict;
}

function readItems(reader: Reader, close: string): PythonValue[] {
  const items: PythonValue[] = [];
  while (reader.problem === null && !closes(reader, close)) {
    items.push(readValue(reader));
    separate(reader, close);
  }
  return items;
}

/** Leaves the reader at the next item or at the closing bracket. */
function separate(reader: Reader, close: string): void {
  if (reader.problem !== null) return;
  const next = peek(reader);
  if (next === ",") reader.at += 1;
  else if (next === "") reader.problem = "It ends inside a collection";
  else if (next !== close) {
    passOver(reader);
    if (peek(reader) === ",") reader.at += 1;
    else if (reader.problem === null && peek(reader) !== close) {
      reader.problem = `A bracket at character ${reader.at} closes nothing`;
    }
  }
}

function closes(reader: Reader, close: string): boolean {
  const next = peek(reader);
  if (next === "") reader.problem = "It ends inside a collection";
  if (next !== close) return false;
  reader.at += 1;
  return true;
}

/** Whole numbers that a double cannot hold stay text. */
function readNumber(reader: Reader): PythonValue {
  const text = take(reader, isNumberPart);
  const value = Number(text.replaceAll("_", ""));
  if (text === "-inf") return -Infinity;
  if (Number.isNaN(value)) return opaque(reader, text);
  return Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(text)
    ? text
    : value;
}

function readWord(reader: Reader): PythonValue {
  const word = take(reader, isWordPart);
  const next = reader.text[reader.at] ?? "";
  if ((next === "'" || next === '"') && /^[bur]{1,2}$/i.test(word)) {
    if (!/b/i.test(word)) return readText(reader);
    reader.foreign = true;
    return { kind: "bytes", base64: readBytes(reader) };
  }
  if (next === "(") return readCall(reader, word);
  return WORDS.has(word) ? (WORDS.get(word) ?? null) : opaque(reader, word);
}

const WORDS: ReadonlyMap<string, PythonValue> = new Map<string, PythonValue>([
  ["True", true],
  ["False", false],
  ["None", null],
  ["nan", NaN],
  ["inf", Infinity],
]);

function readCall(reader: Reader, name: string): PythonValue {
  reader.foreign = true;
  const positional: PythonValue[] = [];
  const keywords = new Map<string, PythonValue>();
  return nested(reader, (inner) => {
    while (inner.problem === null && !closes(inner, ")")) {
      const keyword = readKeyword(inner);
      const value = readValue(inner);
      if (keyword === undefined) positional.push(value);
      else keywords.set(keyword, value);
      separate(inner, ")");
    }
    return { kind: "call", name, positional, keywords };
  });
}

function readKeyword(reader: Reader): string | undefined {
  if (!isWordStart(peek(reader))) return undefined;
  const start = reader.at;
  const word = take(reader, isWordPart);
  if (reader.text[reader.at] === "=") {
    reader.at += 1;
    return word;
  }
  reader.at = start;
  return undefined;
}

/** `<…>`, where the text may hold more of them, and quotes that need not match: `<Foo of it's owner>`. */
function readAngle(reader: Reader): PythonValue {
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
function passOver(reader: Reader): PythonValue {
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

function opaque(reader: Reader, text: string): PythonValue {
  reader.foreign = true;
  return { kind: "opaque", text };
}

/** The next character that is not a space; empty at the end. */
function peek(reader: Reader): string {
  const { text } = reader;
  const start = reader.at;
  while (isSpace(text.charCodeAt(reader.at))) reader.at += 1;
  reader.steps += reader.at - start + 1;
  return text[reader.at] ?? "";
}

function take(reader: Reader, belongs: (character: string) => boolean): string {
  const start = reader.at;
  while (reader.at < reader.text.length && belongs(reader.text[reader.at] ?? "")) reader.at += 1;
  reader.steps += reader.at - start;
  return reader.text.slice(start, reader.at);
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
}

function isDigit(character: string): boolean {
  return character >= "0" && character <= "9";
}

function isWordStart(character: string): boolean {
  return /^[\p{L}_]/u.test(character);
}

function isWordPart(character: string): boolean {
  return character === "." || /^[\p{L}\p{N}_]/u.test(character);
}

function isNumberPart(character: string): boolean {
  return /^[\w.+-]/.test(character);
}
