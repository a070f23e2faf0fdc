import { isObject, type JsonObject, type JsonValue } from "../../data/json.ts";
import { createInvalidParams, type RpcError } from "../jsonrpc/rpc-error.ts";

/**
 * Returns the object, or an empty object for any other value. Missing fields in an agent's message are not an error.
 */
export function readObject(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/**
 * Reads the bridge fields under `_meta.harn`. The same fields at the root of a message come from old builds and are
 * ignored.
 */
export function readHarnMeta(value: JsonValue | undefined): JsonObject {
  return readObject(readObject(readObject(value)["_meta"])["harn"]);
}

export function readString(value: JsonValue | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function readNumber(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}

export function readBoolean(value: JsonValue | undefined): boolean | undefined {
  return typeof value === "boolean" ? value : undefined;
}

export function readObjects(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item: JsonValue) => isObject(item)) : [];
}

export function readStrings(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item: JsonValue) => typeof item === "string") : [];
}

/** The result of decoding: a typed value, or the error for the response. */
export type DecodeResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: RpcError };

export function accept<Value>(value: Value): DecodeResult<Value> {
  return { ok: true, value };
}

export function rejectParams(reason: string): DecodeResult<never> {
  return { ok: false, error: createInvalidParams(reason) };
}

/**
 * Reads the session id of a request. An id over 256 characters is refused here, so error messages never repeat a huge
 * id.
 */
export function decodeSessionId({ sessionId }: JsonObject): DecodeResult<string> {
  if (typeof sessionId !== "string" || sessionId === "")
    return rejectParams('"sessionId" is missing');
  if (sessionId.length > MAX_SESSION_ID)
    return rejectParams(`"sessionId" has more than ${MAX_SESSION_ID} characters`);
  return accept(sessionId);
}

const MAX_SESSION_ID = 256;
