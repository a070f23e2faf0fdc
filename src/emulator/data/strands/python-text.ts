/** A value for the Python formatter: JSON, bytes, or an object with a fixed repr. */
export type PythonValue =
  | null
  | boolean
  | number
  | string
  | Uint8Array
  | PythonRepr
  | readonly PythonValue[]
  | { readonly [key: string]: PythonValue };

/** An object with a fixed repr, such as `<strands.agent.agent.Agent object at 0x7f…>`. It has no JSON form. */
export class PythonRepr {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Formats like `json.dumps`: with a space after commas and colons. Before July 2025 all non-ASCII characters were
 * escaped.
 */
export function formatPythonJson(value: PythonValue, ascii: boolean): string {
  if (typeof value === "string") return formatJsonString(value, ascii);
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) {
    return `[${value.map((entry: PythonValue) => formatPythonJson(entry, ascii)).join(", ")}]`;
  }
  const entries = Object.entries(value as { readonly [key: string]: PythonValue });
  return `{${entries.map(([key, entry]) => `${formatJsonString(key, ascii)}: ${formatPythonJson(entry, ascii)}`).join(", ")}}`;
}

function formatJsonString(text: string, ascii: boolean): string {
  const quoted = JSON.stringify(text);
  return ascii ? quoted.replaceAll(/[^\0-\u007e]/g, formatUnicodeEscape) : quoted;
}

/** True if a value has no JSON form: the app then sends its repr. */
export function isUnserialisable(value: PythonValue): boolean {
  if (value === null || typeof value !== "object") return false;
  if (value instanceof Uint8Array || value instanceof PythonRepr) return true;
  return Object.values(value).some(isUnserialisable);
}

/** Formats like Python's `repr`. */
export function formatPythonRepr(value: PythonValue): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return quotePython(value, escapeCharacter);
  if (value instanceof Uint8Array) {
    return `b${quotePython(Buffer.from(value).toString("latin1"), escapeByte)}`;
  }
  if (value instanceof PythonRepr) return value.text;
  if (Array.isArray(value)) {
    return `[${value.map((entry: PythonValue) => formatPythonRepr(entry)).join(", ")}]`;
  }
  const entries = Object.entries(value as { readonly [key: string]: PythonValue });
  return `{${entries.map(([key, entry]) => `${formatPythonRepr(key)}: ${formatPythonRepr(entry)}`).join(", ")}}`;
}

/** Uses single quotes, unless the text contains single quotes and no double quotes. */
function quotePython(text: string, escape: (character: string) => string): string {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inner = Array.from(text, (character) =>
    character === mark || character === "\\" ? `\\${character}` : escape(character),
  );
  return `${mark}${inner.join("")}${mark}`;
}

const SHORT_ESCAPES: { readonly [character: string]: string } = {
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
};

/** Python escapes characters that are not printable: controls, formats, surrogates, and all spaces except U+0020. */
function escapeCharacter(character: string): string {
  const short = SHORT_ESCAPES[character];
  if (short !== undefined) return short;
  if (character === " " || !/[\p{C}\p{Z}]/u.test(character)) return character;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x100) return formatHexEscape(code);
  return code > 0xffff
    ? `\\U${code.toString(16).padStart(8, "0")}`
    : `\\u${code.toString(16).padStart(4, "0")}`;
}

function escapeByte(character: string): string {
  const code = character.charCodeAt(0);
  return (
    SHORT_ESCAPES[character] ?? (code >= 0x20 && code < 0x7f ? character : formatHexEscape(code))
  );
}

function formatHexEscape(code: number): string {
  return `\\x${code.toString(16).padStart(2, "0")}`;
}

function formatUnicodeEscape(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
