import { StoreError } from "./store-error.ts";
import {
  MAX_RECORD_BYTES,
  MAX_RECORD_NAME_LENGTH,
  type RecordQuery,
  type RecordWrite,
} from "./record-store.ts";

/** Encodes the value of a record as JSON. Throws `invalid_option` for a name, value or time which no store accepts. */
export function encodeRecord(
  scope: string,
  key: string,
  { value, expiresAt = 0 }: RecordWrite,
): string {
  checkName("scope", scope);
  checkName("key", key);
  if (!Number.isSafeInteger(expiresAt)) {
    throw createInvalidError("expiresAt", `${expiresAt} is not a time in milliseconds`);
  }
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) throw createInvalidError("value", "JSON cannot represent the value");
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_RECORD_BYTES) return text;
  throw createInvalidError(
    "value",
    `the JSON has ${bytes} bytes, the limit is ${MAX_RECORD_BYTES}`,
  );
}

/** Throws `invalid_option`. SQLite would read a negative limit as no limit. */
export function checkRecordQuery({ limit }: RecordQuery): void {
  if (Number.isSafeInteger(limit) && limit > 0) return;
  throw createInvalidError("limit", `${limit} is not a positive integer`);
}

/**
 * Throws `invalid_option` if a name is empty or too long. NUL and unpaired surrogates are refused because a TEXT column
 * does not preserve them.
 */
function checkName(path: "scope" | "key", name: string): void {
  if (name === "") throw createInvalidError(path, "it is empty");
  if (name.length > MAX_RECORD_NAME_LENGTH) {
    const problem = `it has ${name.length} characters, the limit is ${MAX_RECORD_NAME_LENGTH}`;
    throw createInvalidError(path, problem);
  }
  if (name.includes("\0") || Buffer.from(name).toString() !== name) {
    throw createInvalidError(path, "it contains a NUL or an unpaired surrogate");
  }
}

function createInvalidError(path: string, problem: string): StoreError {
  const message = `The ${path} of a record is not valid: ${problem}`;
  return new StoreError("invalid_option", message, { details: { path } });
}
