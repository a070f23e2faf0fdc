import {
  hasMoreMembers,
  hasTooManyValues,
  isObject,
  parseJson,
  type JsonObject,
} from "../domain/json.ts";
import { ApiError, type ApiErrorOptions } from "./api-error.ts";
import { headerOf } from "./header.ts";
import type { ServedRequest } from "./served.ts";

/** The JSON object that a request must have for a body. */
export function jsonBodyOf(request: Pick<ServedRequest, "headers" | "body">): JsonObject {
  return jsonObjectIn(jsonTextOf(request), "body");
}

/** A body that is said to be JSON, unread. A form of another site cannot be sent under this type. */
export function jsonTextOf(request: Pick<ServedRequest, "headers" | "body">): string {
  const type = headerOf(request, "content-type") ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    const found = type === "" ? "none" : `"${type}"`;
    const message = `The content type is ${found}, wanted application/json`;
    throw new ApiError(415, "validation_failed", message, { reason: "unsupported_media_type" });
  }
  return utf8(request.body);
}

/** Names of members are what costs most to read, to compare and to put in order: this many take a second or two. */
const MOST_MEMBERS = 200_000;

/** Values take up to 30 times the memory of their text: a million empty objects are 3 MB of text and 100 MB of memory. */
const MAX_VALUES = 250_000;

/** No request has a hundred. Each one more is sorted, compared and reported as ignored. */
const MAX_TOP_MEMBERS = 1000;

/** The JSON object that is all of a text. */
export function jsonObjectIn(text: string, what: "body" | "frame"): JsonObject {
  if (text.length > MOST_MEMBERS && hasMoreMembers(text, MOST_MEMBERS)) {
    throw invalid(`The ${what} has more than ${MOST_MEMBERS} members in its objects`, NO_JSON);
  }
  if (hasTooManyValues(text, MAX_VALUES)) {
    throw invalid(`The ${what} has more than ${MAX_VALUES} values`, NO_JSON);
  }
  const parsed = parseJson(text);
  if (!parsed.ok) throw invalid(`The ${what} is no JSON: ${parsed.reason}`, NO_JSON);
  if (!isObject(parsed.value)) throw invalid(`The ${what} is no JSON object`, NO_JSON);
  if (Object.keys(parsed.value).length > MAX_TOP_MEMBERS) {
    throw invalid(`The ${what} has more than ${MAX_TOP_MEMBERS} fields`, NO_JSON);
  }
  return parsed.value;
}

export function invalid(message: string, options: ApiErrorOptions = {}): ApiError {
  return new ApiError(400, "validation_failed", message, options);
}

const NO_JSON: ApiErrorOptions = { reason: "invalid_json" };

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalid("The body is not UTF-8", NO_JSON);
  }
}
