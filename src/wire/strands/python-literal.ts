import { opaque, passOver, readAngle, type Opaque } from "./python-opaque.ts";
import {
  isDigit,
  isNumberPart,
  isWordPart,
  isWordStart,
  peek,
  take,
  type Reader,
} from "./python-reader.ts";
import { readBytes, readText } from "./python-string.ts";

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
  | Opaque;

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

const MAX_LITERAL_DEPTH = 64;
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
    // Nor has it keys that are tuples.
    if (typeof key === "object" && key !== null) reader.foreign = true;
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
    // JSON has no sets, so one of them is enough to have made this a repr.
    reader.foreign = true;
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
