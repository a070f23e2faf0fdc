import {
  hasTooManyValues,
  MAX_JSON_DEPTH,
  MAX_JSON_VALUES,
  parseJson,
} from "../../../data/json.ts";
import { copyString } from "../../../text/text-builder.ts";

export interface LenientOptions {
  /** The type of integers which a double cannot represent. Default: `string`. */
  readonly bigIntegers?: "string" | "bigint";
}

export type LenientJson =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly reason: string };

/**
 * Parses JSON as written by Python: with `NaN`, `Infinity` and integers of any size. Text without these is parsed by
 * `JSON.parse`.
 */
export function parseLenientJson(text: string, options: LenientOptions = {}): LenientJson {
  const mayHoldBigInteger = !text.startsWith('"') && LONG_NUMBER.test(text);
  const native = mayHoldBigInteger ? undefined : parseJson(text);
  if (native?.ok === true) return native;
  if (native !== undefined && !NOT_A_NUMBER.test(text)) return native;
  if (hasTooManyValues(text)) return { ok: false, reason: `More than ${MAX_JSON_VALUES} values` };
  const reader: JsonReader = {
    text,
    position: 0,
    depth: 0,
    bigIntegers: options.bigIntegers ?? "string",
  };
  const value = readValue(reader);
  if (value !== FAILED && peek(reader) === "") return { ok: true, value };
  return { ok: false, reason: `Unexpected text at character ${reader.position}` };
}

/** Returns whether a text is a truncated JSON structure or string: valid so far, but without its end. */
export function isCutJson(text: string): boolean {
  if (!/^\s*["[{]/.test(text)) return false;
  const reader: JsonReader = { text, position: 0, depth: 0, bigIntegers: "string" };
  return readValue(reader) === FAILED && reader.position >= text.length;
}

/** Integers of up to 15 digits always fit into a double. */
const LONG_NUMBER = /[0-9]{16}/;
const NOT_A_NUMBER = /NaN|Infinity/;

interface JsonReader {
  readonly text: string;
  position: number;
  depth: number;
  readonly bigIntegers: "string" | "bigint";
}

const FAILED = Symbol("failed");

function readValue(reader: JsonReader): unknown {
  switch (peek(reader)) {
    case "{":
      return readNested(reader, readObject);
    case "[":
      return readNested(reader, readArray);
    case '"':
      return readString(reader);
    default:
      return readScalar(reader);
  }
}

function readNested(reader: JsonReader, read: (reader: JsonReader) => unknown): unknown {
  if (reader.depth >= MAX_JSON_DEPTH) return FAILED;
  reader.position += 1;
  reader.depth += 1;
  const value = read(reader);
  reader.depth -= 1;
  return value;
}

/** The last of two equal keys wins, as in `JSON.parse`; `__proto__` is an ordinary key. */
function readObject(reader: JsonReader): unknown {
  const value = {};
  if (consume(reader, "}")) return value;
  do {
    const key = peek(reader) === '"' ? readString(reader) : FAILED;
    if (typeof key !== "string" || !consume(reader, ":")) return FAILED;
    const member = readValue(reader);
    if (member === FAILED) return FAILED;
    const object = { value: member, enumerable: true, writable: true, configurable: true };
    Object.defineProperty(value, key, object);
  } while (consume(reader, ","));
  return consume(reader, "}") ? value : FAILED;
}

function readArray(reader: JsonReader): unknown {
  const value: unknown[] = [];
  if (consume(reader, "]")) return value;
  do {
    const item = readValue(reader);
    if (item === FAILED) return FAILED;
    value.push(item);
  } while (consume(reader, ","));
  return consume(reader, "]") ? value : FAILED;
}

/** Finds the end of a string. `JSON.parse` decodes the content. */
function readString(reader: JsonReader): unknown {
  const { text } = reader;
  const start = reader.position;
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at += 1;
    else if (code === QUOTE) {
      reader.position = at + 1;
      const parsed = parseJson(text.slice(start, at + 1));
      return parsed.ok ? parsed.value : FAILED;
    }
  }
  reader.position = text.length;
  return FAILED;
}

function readScalar(reader: JsonReader): unknown {
  SCALAR.lastIndex = reader.position;
  const scalar = SCALAR.exec(reader.text)?.[0] ?? "";
  reader.position += scalar.length;
  if (WORDS.has(scalar)) return WORDS.get(scalar);
  if (!NUMBER.test(scalar)) return FAILED;
  const value = Number(scalar);
  const isExact = !/^-?[0-9]+$/.test(scalar) || Number.isSafeInteger(value);
  if (isExact) return value;
  return reader.bigIntegers === "bigint" ? BigInt(scalar) : copyString(scalar);
}

function consume(reader: JsonReader, character: string): boolean {
  if (peek(reader) !== character) return false;
  reader.position += 1;
  return true;
}

/** Returns the next non-whitespace character. Empty at the end. */
function peek(reader: JsonReader): string {
  SPACE.lastIndex = reader.position;
  reader.position += SPACE.exec(reader.text)?.[0].length ?? 0;
  return reader.text[reader.position] ?? "";
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
