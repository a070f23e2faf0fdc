import {
  hasMoreMembers,
  hasTooManyValues,
  isObject,
  MAX_REQUEST_MEMBERS,
  MAX_REQUEST_VALUES,
  parseJson,
  type JsonObject,
} from "../../data/json.ts";
import { ApiError, type ApiErrorOptions } from "./api-error.ts";
import { readHeader } from "./read-header.ts";
import type { ServedRequest } from "../server/http-types.ts";

/** Parses the body as a JSON object. Throws an `ApiError` if the body is anything else. */
export function readJsonBody(
  request: Pick<ServedRequest, "headers" | "body">,
  mediaTypes?: readonly string[],
): JsonObject {
  return parseJsonObject(readJsonText(request, mediaTypes), "body");
}

/**
 * Returns the body's text if its content type is JSON, unparsed. The check also stops cross-site forms, which browsers
 * cannot send with this type.
 */
export function readJsonText(
  request: Pick<ServedRequest, "headers" | "body">,
  mediaTypes: readonly string[] = ["application/json"],
): string {
  const type = readHeader(request, "content-type") ?? "";
  const [mediaType = ""] = type.toLowerCase().split(";", 1);
  if (!mediaTypes.includes(mediaType.trim())) {
    const contentType = type === "" ? "none" : `"${type}"`;
    const message = `The content type is ${contentType}, expected ${mediaTypes.join(" or ")}`;
    throw new ApiError(415, "validation_failed", message, { reason: "unsupported_media_type" });
  }
  return decodeUtf8(request.body);
}

/** Real requests have fewer than a hundred fields. Every unknown field is sorted, compared and reported as ignored. */
const MAX_TOP_MEMBERS = 1000;

/** Parses a string which must contain exactly one JSON object. Limits are checked before parsing. */
export function parseJsonObject(text: string, source: "body" | "frame"): JsonObject {
  if (text.length > MAX_REQUEST_MEMBERS && hasMoreMembers(text, MAX_REQUEST_MEMBERS)) {
    throw createInvalidRequestError(
      `The ${source} has more than ${MAX_REQUEST_MEMBERS} members in its objects`,
      INVALID_JSON,
    );
  }
  if (hasTooManyValues(text, MAX_REQUEST_VALUES)) {
    throw createInvalidRequestError(
      `The ${source} has more than ${MAX_REQUEST_VALUES} values`,
      INVALID_JSON,
    );
  }
  const parsed = parseJson(text);
  if (!parsed.ok)
    throw createInvalidRequestError(
      `The ${source} is not valid JSON: ${parsed.reason}`,
      INVALID_JSON,
    );
  if (!isObject(parsed.value))
    throw createInvalidRequestError(`The ${source} is not a JSON object`, INVALID_JSON);
  if (Object.keys(parsed.value).length > MAX_TOP_MEMBERS) {
    throw createInvalidRequestError(
      `The ${source} has more than ${MAX_TOP_MEMBERS} fields`,
      INVALID_JSON,
    );
  }
  return parsed.value;
}

export function createInvalidRequestError(
  message: string,
  options: ApiErrorOptions = {},
): ApiError {
  return new ApiError(400, "validation_failed", message, options);
}

const INVALID_JSON: ApiErrorOptions = { reason: "invalid_json" };

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw createInvalidRequestError("The body is not UTF-8", INVALID_JSON);
  }
}
