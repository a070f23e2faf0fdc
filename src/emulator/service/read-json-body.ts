import { isObject, parseJson, type JsonObject } from "../../data/json.ts";
import { createValidationError } from "./validation-error.ts";

/** Parses a request body as a JSON object. An empty body is an empty object. */
export function readJsonBody(body: Uint8Array): JsonObject {
  if (body.length === 0) return {};
  if (hasTooManyValues(body)) throw createParseError(`it has more than ${MAX_VALUES} values`);
  const parsed = parseJson(new TextDecoder().decode(body));
  if (!parsed.ok) throw createParseError(parsed.reason);
  if (!isObject(parsed.value)) throw createParseError("it is not an object");
  return parsed.value;
}

function createParseError(reason: string): Error {
  return createValidationError(`The body cannot be read as JSON: ${reason}`, "CannotParse");
}

/** More than the context of any model. Parsing 700,000 keys takes a second; counting them takes a few milliseconds. */
const MAX_VALUES = 250_000;

/** Counts commas and opening brackets outside of strings. */
function hasTooManyValues(body: Uint8Array): boolean {
  let count = 0;
  let isQuoted = false;
  for (let at = 0; at < body.length && count <= MAX_VALUES; at++) {
    const byte = body[at];
    if (isQuoted && byte === BACKSLASH) at += 1;
    else if (byte === QUOTE) isQuoted = !isQuoted;
    else if (!isQuoted && (byte === COMMA || byte === OPEN_BRACKET || byte === OPEN_BRACE)) count++;
  }
  return count > MAX_VALUES;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
