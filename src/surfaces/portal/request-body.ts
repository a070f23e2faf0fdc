import { isObject, parseJson, type JsonObject } from "../../domain/json.ts";
import type { ServedRequest } from "../../http/served.ts";
import { ApiError } from "./api-error.ts";
import { headerOf } from "./header.ts";

/** The JSON object that a request must have for a body. A form of another site cannot be sent under this type. */
export function bodyOf(request: ServedRequest): JsonObject {
  const type = headerOf(request, "content-type") ?? "";
  if (!/^application\/json\s*(?:;|$)/i.test(type)) {
    const found = type === "" ? "none" : `"${type}"`;
    throw new ApiError(
      415,
      "validation_failed",
      `The content type is ${found}, wanted application/json`,
    );
  }
  const parsed = parseJson(utf8(request.body));
  if (!parsed.ok) throw invalid(`The body is no JSON: ${parsed.reason}`);
  if (!isObject(parsed.value)) throw invalid("The body is no JSON object");
  return parsed.value;
}

export function requiredText(body: JsonObject, name: string): string {
  const value = optionalText(body, name);
  if (value === undefined) throw invalid(`"${name}" is missing`);
  return value;
}

/** Null is as good as absent. */
export function optionalText(body: JsonObject, name: string): string | undefined {
  const value = ownValue(body, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw invalid(`"${name}" is no text`);
  if (value.trim() === "") throw invalid(`"${name}" is empty`);
  return value;
}

export function optionalFlag(body: JsonObject, name: string): boolean | undefined {
  const value = ownValue(body, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "boolean") throw invalid(`"${name}" is neither true nor false`);
  return value;
}

export function invalid(message: string): ApiError {
  return new ApiError(400, "validation_failed", message);
}

/** Not what every object inherits. */
function ownValue(body: JsonObject, name: string): JsonObject[string] | undefined {
  return Object.hasOwn(body, name) ? body[name] : undefined;
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw invalid("The body is not UTF-8");
  }
}
