import type { PythonReader } from "./python-reader.ts";

/** Reads a string; the reader is at its opening quote. Lone surrogates are preserved. */
export function readString(reader: PythonReader): string {
  const { text } = reader;
  const quote = text.charCodeAt(reader.position);
  const start = reader.position;
  let value = "";
  let from = start + 1;
  for (reader.position = from; reader.position < text.length; reader.position++) {
    const code = text.charCodeAt(reader.position);
    if (code === quote) break;
    if (code !== BACKSLASH) continue;
    value += text.slice(from, reader.position) + readEscape(reader);
    from = reader.position + 1;
  }
  value += text.slice(from, reader.position);
  reader.position += 1;
  reader.steps += reader.position - start;
  if (reader.position > text.length) reader.problem = "It ends inside a string";
  return value;
}

/** Reads a bytes literal as base64; the reader is at its opening quote. */
export function readBytes(reader: PythonReader): string {
  const binary = readString(reader);
  for (let at = 0; at < binary.length; at++) {
    if (binary.charCodeAt(at) > 0xff) {
      reader.problem = "A bytes literal has a character that is not a byte";
      return "";
    }
  }
  reader.steps += binary.length;
  return btoa(binary);
}

/** Reads one escape and moves the reader to its last character. */
function readEscape(reader: PythonReader): string {
  const { text } = reader;
  reader.position += 1;
  const kind = text[reader.position] ?? "";
  const size = HEX_DIGITS.get(kind);
  if (size !== undefined) return readHex(reader, size);
  if (kind >= "0" && kind <= "7") return readOctal(reader);
  return ESCAPES.get(kind) ?? `\\${kind}`;
}

function readHex(reader: PythonReader, size: number): string {
  const digits = reader.text.slice(reader.position + 1, reader.position + 1 + size);
  const code = /^[0-9a-f]+$/i.test(digits) ? parseInt(digits, 16) : NaN;
  if (digits.length < size || !(code <= 0x10ffff)) {
    reader.problem = `A string has an invalid escape at character ${reader.position}`;
    return "";
  }
  reader.position += size;
  return String.fromCodePoint(code);
}

function readOctal(reader: PythonReader): string {
  const digits =
    /^[0-7]{1,3}/.exec(reader.text.slice(reader.position, reader.position + 3))?.[0] ?? "0";
  reader.position += digits.length - 1;
  return String.fromCharCode(parseInt(digits, 8));
}

const BACKSLASH = 0x5c;

const HEX_DIGITS: ReadonlyMap<string, number> = new Map([
  ["x", 2],
  ["u", 4],
  ["U", 8],
]);

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ["\\", "\\"],
  ["'", "'"],
  ['"', '"'],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["a", "\x07"],
  ["b", "\b"],
  ["f", "\f"],
  ["v", "\v"],
  ["\n", ""],
]);
