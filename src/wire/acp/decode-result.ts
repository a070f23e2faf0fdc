import type { JsonObject } from "../../data/json.ts";
import { createInvalidParams, type RpcError } from "../jsonrpc/rpc-error.ts";

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
