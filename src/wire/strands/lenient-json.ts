import { hasTooManyValues, MAX_JSON_DEPTH, MAX_JSON_VALUES, parseJson } from "../../domain/json.ts";
import { detached } from "../../domain/kept-text.ts";

export interface LenientOptions {
  /** What becomes of whole numbers that a double cannot hold. */
  readonly bigIntegers?: "string" | "bigint";
}

export type LenientJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string };

/**
 * Reads JSON as Python writes it: with `NaN`, `Infinity` and whole numbers of any size. Text without these goes
 * through the native parser.
 */
export function parseLenientJson(text: string, options: LenientOptions = {}): LenientJson {
  const mayHoldBig = !text.startsWith('"') && LONG_NUMBER.test(text);
  const native = mayHoldBig ? undefined : parseJson(text);
  if (native?.ok === true) return native;
  if (native !== undefined && !NOT_A_NUMBER.test(text)) return native;
  if (hasTooManyValues(text)) return { ok: false, reason: `More than ${MAX_JSON_VALUES} values` };
  const reader: Reader = { text, at: 0, depth: 0, big: options.bigIntegers ?? "string" };
  const value = readValue(reader);
  if (value !== FAILED && peek(reader) === "") return { ok: true, value };
  return { ok: false, reason: `Unexpected text at character ${reader.at}` };
}

/** Whether a text is the beginning of a JSON structure or string, and only its end is missing. */
export function isCutJson(text: string): boolean {
  if (!/^\s*["[{]/.test(text)) return false;
  const reader: Reader = { text, at: 0, depth: 0, big: "string" };
  return readValue(reader) === FAILED && reader.at >= text.length;
}

/** Fifteen digits always fit into a double. */
const LONG_NUMBER = /[0-9]{16}/;
const NOT_A_NUMBER = /NaN|Infinity/;

interface Reader {
  readonly text: string;
  at: number;
  depth: number;
  readonly big: "string" | "bigint";
}

const FAILED = Symbol("failed");

function readValue(reader: Reader): unknown {
  switch (peek(reader)) {
    case "{":
      return nested(reader, readObject);
    case "[":
      return nested(reader, readArray);
    case '"':
      return readString(reader);
    default:
      return readScalar(reader);
  }
}

function nested(reader: Reader, read: (reader: Reader) => unknown): unknown {
  if (reader.depth >= MAX_JSON_DEPTH) return FAILED;
  reader.at += 1;
  reader.depth += 1;
  const value = read(reader);
  reader.depth -= 1;
  return value;
}

/** The last of two equal keys counts, as with the native parser; `__proto__` is a key like any other. */
function readObject(reader: Reader): unknown {
  const value = {};
  if (took(reader, "}")) return value;
  do {
    const key = peek(reader) === '"' ? readString(reader) : FAILED;
    if (typeof key !== "string" || !took(reader, ":")) return FAILED;
    const member = readValue(reader);
    if (member === FAILED) return FAILED;
    const plain = { value: member, enumerable: true, writable: true, configurable: true };
    Object.defineProperty(value, key, plain);
  } while (took(reader, ","));
  return took(reader, "}") ? value : FAILED;
}

function readArray(reader: Reader): unknown {
  const value: unknown[] = [];
  if (took(reader, "]")) return value;
  do {
    const item = readValue(reader);
    if (item === FAILED) return FAILED;
    value.push(item);
  } while (took(reader, ","));
  return took(reader, "]") ? value : FAILED;
}

/** Finds the end of a string; what it holds is left to the native parser. */
function readString(reader: Reader): unknown {
  const { text } = reader;
  const start = reader.at;
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) {
      reader.at = at + 1;
      const parsed = parseJson(text.slice(start, at + 1));
      return parsed.ok ? parsed.value : FAILED;
    }
  }
  reader.at = text.length;
  return FAILED;
}

function readScalar(reader: Reader): unknown {
  SCALAR.lastIndex = reader.at;
  const word = SCALAR.exec(reader.text)?.[0] ?? "";
  reader.at += word.length;
  if (WORDS.has(word)) return WORDS.get(word);
  if (!NUMBER.test(word)) return FAILED;
  const value = Number(word);
  const isExact = !/^-?[0-9]+$/.test(word) || Number.isSafeInteger(value);
  if (isExact) return value;
  return reader.big === "bigint" ? BigInt(word) : detached(word);
}

function took(reader: Reader, character: string): boolean {
  if (peek(reader) !== character) return false;
  reader.at += 1;
  return true;
}

/** The next character that is not white space; empty at the end. */
function peek(reader: Reader): string {
  SPACE.lastIndex = reader.at;
  reader.at += SPACE.exec(reader.text)?.[0].length ?? 0;
  return reader.text[reader.at] ?? "";
}

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /[-+.\w]+/y;
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/;
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
  ["NaN", NaN],
  ["Infinity", Infinity],
  ["-Infinity", -Infinity],
]);
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
