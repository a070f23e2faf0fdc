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

/** The JSON object that a request must have for a body. */
export function readJsonBody(request: Pick<ServedRequest, "headers" | "body">): JsonObject {
  return parseJsonObject(readJsonText(request), "body");
}

/** A body that is said to be JSON, unread. A form of another site cannot be sent under this type. */
export function readJsonText(request: Pick<ServedRequest, "headers" | "body">): string {
  const type = readHeader(request, "content-type") ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    const contentType = type === "" ? "none" : `"${type}"`;
    const message = `The content type is ${contentType}, wanted application/json`;
    throw new ApiError(415, "validation_failed", message, { reason: "unsupported_media_type" });
  }
  return decodeUtf8(request.body);
}

/** No request has a hundred. Each one more is sorted, compared and reported as ignored. */
const MAX_TOP_MEMBERS = 1000;

/** The JSON object that is all of a text. */
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
    throw createInvalidRequestError(`The ${source} is no JSON: ${parsed.reason}`, INVALID_JSON);
  if (!isObject(parsed.value))
    throw createInvalidRequestError(`The ${source} is no JSON object`, INVALID_JSON);
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
