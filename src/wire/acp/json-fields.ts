import { isObject, type JsonObject, type JsonValue } from "../../data/json.ts";
import { createInvalidParams, type RpcError } from "../jsonrpc/rpc-error.ts";

/** An object, or none. What is missing in what an agent says is not there, and no error. */
export function readObject(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** What bridges say beside ACP, which is in this place alone: the same words at the root are of old builds. */
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

/** What the door gives: a typed value, or the error that answers for it. */
export type DecodeResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: RpcError };

export function accept<Value>(value: Value): DecodeResult<Value> {
  return { ok: true, value };
}

export function rejectParams(reason: string): DecodeResult<never> {
  return { ok: false, error: createInvalidParams(reason) };
}

/** The session that a request is about. A longer id is refused here, so that errors do not repeat it whole. */
export function decodeSessionId({ sessionId }: JsonObject): DecodeResult<string> {
  if (typeof sessionId !== "string" || sessionId === "")
    return rejectParams('"sessionId" is missing');
  if (sessionId.length > MAX_SESSION_ID)
    return rejectParams(`"sessionId" has more than ${MAX_SESSION_ID} characters`);
  return accept(sessionId);
}

const MAX_SESSION_ID = 256;
