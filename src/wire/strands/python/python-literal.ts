import { createOpaque, skipValue, readAngleBrackets, type Opaque } from "./python-opaque.ts";
import {
  isDigit,
  isNumberPart,
  isWordPart,
  isWordStart,
  peek,
  takeWhile,
  type PythonReader,
} from "./python-reader.ts";
import { readBytes, readString } from "./python-string.ts";

/** The readable part of Python's `repr()` output. Sets and tuples become lists. */
export type PythonValue =
  | null
  | boolean
  | number
  | string
  | readonly PythonValue[]
  | PythonDict
  | { readonly kind: "bytes"; readonly base64: string }
  | PythonCall
  | Opaque;

export type PythonDict = ReadonlyMap<string, PythonValue>;

/** A constructor call: `UUID('…')`, or a dataclass such as `AgentResult(stop_reason='end_turn', message={…})`. */
export interface PythonCall {
  readonly kind: "call";
  readonly name: string;
  readonly positional: readonly PythonValue[];
  readonly keywords: PythonDict;
}

export interface LiteralOptions {
  /** Reading stops once all these keys of the outermost dict and a value without a JSON form were read. */
  readonly requestedKeys?: ReadonlySet<string>;
  readonly maxCharacters?: number;
}

export type LiteralReading =
  | {
      readonly ok: true;
      readonly dict: PythonDict;
      /** True if the dict contains a value without a JSON form, the cause of the repr. */
      readonly hasForeignValues: boolean;
      /** Number of character visits, to test for linear cost. */
      readonly steps: number;
    }
  | { readonly ok: false; readonly reason: string; readonly steps: number };

const MAX_LITERAL_DEPTH = 64;
const DEFAULT_MAX_CHARACTERS = 8 * 1024 * 1024;

/**
 * Reads a dict written by `repr()`. The reader only moves forward: a value which is not a literal is skipped up to the
 * next comma or closing bracket of its level and becomes opaque, so the cost is linear for any text.
 */
export function readPythonDict(text: string, options: LiteralOptions = {}): LiteralReading {
  const { requestedKeys, maxCharacters = DEFAULT_MAX_CHARACTERS } = options;
  const reader: PythonReader = {
    text,
    position: 1,
    steps: 1,
    depth: 1,
    hasForeignValues: false,
    problem: null,
  };
  if (!text.startsWith("{")) reader.problem = "It is not a dict";
  if (text.length > maxCharacters) reader.problem = `It is longer than ${maxCharacters} characters`;
  const dict = new Map<string, PythonValue>();
  if (reader.problem === null) readEntries(reader, dict, requestedKeys);
  const { problem, hasForeignValues, steps } = reader;
  return problem === null
    ? { ok: true, dict, hasForeignValues, steps }
    : { ok: false, reason: problem, steps };
}

function readEntries(
  reader: PythonReader,
  dict: Map<string, PythonValue>,
  requestedKeys: ReadonlySet<string> | undefined,
): void {
  while (reader.problem === null && !isClosing(reader, "}")) {
    readEntry(reader, dict, readValue(reader));
    if (
      requestedKeys !== undefined &&
      reader.hasForeignValues &&
      [...requestedKeys].every((key) => dict.has(key))
    )
      return;
  }
  if (reader.problem === null && peek(reader) !== "") {
    reader.problem = "Text follows its end";
  }
}

function readEntry(reader: PythonReader, dict: Map<string, PythonValue>, key: PythonValue): void {
  if (peek(reader) === ":") {
    reader.position += 1;
    // JSON has no tuples as keys either.
    if (typeof key === "object" && key !== null) reader.hasForeignValues = true;
    dict.set(toKeyName(key), readValue(reader));
  }
  skipSeparator(reader, "}");
}

function toKeyName(key: PythonValue): string {
  return typeof key === "object" && key !== null ? "?" : String(key);
}

function readValue(reader: PythonReader): PythonValue {
  const value = readStart(reader);
  if (reader.problem !== null || DELIMITERS.includes(peek(reader))) return value;
  // A text such as `1 of 2` is not a literal.
  return skipValue(reader);
}

const DELIMITERS = ",:)]}";

function readStart(reader: PythonReader): PythonValue {
  const first = peek(reader);
  switch (first) {
    case "":
      reader.problem = "It ends inside a value";
      return null;
    case "'":
    case '"':
      return readString(reader);
    case "{":
      return readNested(reader, readBraces);
    case "[":
      return readNested(reader, (inner) => readItems(inner, "]"));
    case "(":
      return readNested(reader, (inner) => readItems(inner, ")"));
    case "<":
      return readAngleBrackets(reader);
    default:
      if (isDigit(first) || first === "-" || first === ".") return readNumber(reader);
      return isWordStart(first) ? readWord(reader) : skipValue(reader);
  }
}

function readNested(
  reader: PythonReader,
  read: (reader: PythonReader) => PythonValue,
): PythonValue {
  if (reader.depth >= MAX_LITERAL_DEPTH) {
    reader.problem = `It is nested deeper than ${MAX_LITERAL_DEPTH} levels`;
    return null;
  }
  reader.position += 1;
  reader.depth += 1;
  const value = read(reader);
  reader.depth -= 1;
  return value;
}

/** Reads a dict or a set; the first item decides. */
function readBraces(reader: PythonReader): PythonValue {
  const dict = new Map<string, PythonValue>();
  if (isClosing(reader, "}")) return dict;
  const first = readValue(reader);
  if (peek(reader) !== ":") {
    // JSON has no sets, so one set proves a real repr.
    reader.hasForeignValues = true;
    skipSeparator(reader, "}");
    return [first, ...readItems(reader, "}")];
  }
  readEntry(reader, dict, first);
  while (reader.problem === null && !isClosing(reader, "}"))
    readEntry(reader, dict, readValue(reader));
  return dict;
}

function readItems(reader: PythonReader, close: string): PythonValue[] {
  const items: PythonValue[] = [];
  while (reader.problem === null && !isClosing(reader, close)) {
    items.push(readValue(reader));
    skipSeparator(reader, close);
  }
  return items;
}

/** Moves the reader to the next item or the closing bracket. */
function skipSeparator(reader: PythonReader, close: string): void {
  if (reader.problem !== null) return;
  const next = peek(reader);
  if (next === ",") reader.position += 1;
  else if (next === "") reader.problem = "It ends inside a collection";
  else if (next !== close) {
    skipValue(reader);
    if (peek(reader) === ",") reader.position += 1;
    else if (reader.problem === null && peek(reader) !== close) {
      reader.problem = `A bracket at character ${reader.position} has no opening bracket`;
    }
  }
}

function isClosing(reader: PythonReader, close: string): boolean {
  const next = peek(reader);
  if (next === "") reader.problem = "It ends inside a collection";
  if (next !== close) return false;
  reader.position += 1;
  return true;
}

/** Integers which a double cannot represent stay strings. */
function readNumber(reader: PythonReader): PythonValue {
  const text = takeWhile(reader, isNumberPart);
  const value = Number(text.replaceAll("_", ""));
  if (text === "-inf") return -Infinity;
  if (Number.isNaN(value)) return createOpaque(reader, text);
  return Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(text)
    ? text
    : value;
}

function readWord(reader: PythonReader): PythonValue {
  const word = takeWhile(reader, isWordPart);
  const next = reader.text[reader.position] ?? "";
  if ((next === "'" || next === '"') && /^[bur]{1,2}$/i.test(word)) {
    if (!/b/i.test(word)) return readString(reader);
    reader.hasForeignValues = true;
    return { kind: "bytes", base64: readBytes(reader) };
  }
  if (next === "(") return readCall(reader, word);
  return WORDS.has(word) ? (WORDS.get(word) ?? null) : createOpaque(reader, word);
}

const WORDS: ReadonlyMap<string, PythonValue> = new Map<string, PythonValue>([
  ["True", true],
  ["False", false],
  ["None", null],
  ["nan", NaN],
  ["inf", Infinity],
]);

function readCall(reader: PythonReader, name: string): PythonValue {
  reader.hasForeignValues = true;
  const positional: PythonValue[] = [];
  const keywords = new Map<string, PythonValue>();
  return readNested(reader, (inner) => {
    while (inner.problem === null && !isClosing(inner, ")")) {
      const keyword = readKeyword(inner);
      const value = readValue(inner);
      if (keyword === undefined) positional.push(value);
      else keywords.set(keyword, value);
      skipSeparator(inner, ")");
    }
    return { kind: "call", name, positional, keywords };
  });
}

function readKeyword(reader: PythonReader): string | undefined {
  if (!isWordStart(peek(reader))) return undefined;
  const start = reader.position;
  const word = takeWhile(reader, isWordPart);
  if (reader.text[reader.position] === "=") {
    reader.position += 1;
    return word;
  }
  reader.position = start;
  return undefined;
}
