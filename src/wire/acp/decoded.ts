import type { JsonObject } from "../../domain/json.ts";
import { invalidParams, type RpcError } from "../jsonrpc/rpc-error.ts";

/** What the door gives: a typed value, or the error that answers for it. */
export type Decoded<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly error: RpcError };

export function decoded<Value>(value: Value): Decoded<Value> {
  return { ok: true, value };
}

export function refusedParams(reason: string): Decoded<never> {
  return { ok: false, error: invalidParams(reason) };
}

/** The session that a request is about. A longer id is refused here, so that errors do not repeat it whole. */
export function decodeSessionId({ sessionId }: JsonObject): Decoded<string> {
  if (typeof sessionId !== "string" || sessionId === "")
    return refusedParams('"sessionId" is missing');
  if (sessionId.length > MAX_SESSION_ID)
    return refusedParams(`"sessionId" has more than ${MAX_SESSION_ID} characters`);
  return decoded(sessionId);
}

const MAX_SESSION_ID = 256;
