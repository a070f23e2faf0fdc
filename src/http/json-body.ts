import { isObject, parseJson, type JsonObject } from "../domain/json.ts";
import { ApiError, type ApiErrorOptions } from "./api-error.ts";
import { headerOf } from "./header.ts";
import type { ServedRequest } from "./served.ts";

/** The JSON object that a request must have for a body. A form of another site cannot be sent under this type. */
export function jsonBodyOf(request: Pick<ServedRequest, "headers" | "body">): JsonObject {
  const type = headerOf(request, "content-type") ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    const found = type === "" ? "none" : `"${type}"`;
    const message = `The content type is ${found}, wanted application/json`;
    throw new ApiError(415, "validation_failed", message, { reason: "unsupported_media_type" });
  }
  const parsed = parseJson(utf8(request.body));
  if (!parsed.ok) throw invalid(`The body is no JSON: ${parsed.reason}`, NO_JSON);
  if (!isObject(parsed.value)) throw invalid("The body is no JSON object", NO_JSON);
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
