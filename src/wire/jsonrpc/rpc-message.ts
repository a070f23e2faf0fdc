import type { JsonValue } from "../../data/json.ts";
import type { RpcError } from "./rpc-error.ts";

/** Null is legal, and some clients use null. */
export type RequestId = string | number | null;

/** The result or the error of a request. */
export type RpcOutcome<Result = unknown> =
  | { readonly ok: true; readonly result: Result }
  | { readonly ok: false; readonly error: RpcError };

/** The response received from the other side. */
export type RpcResponse = RpcOutcome<JsonValue>;

/** The meaning of one line. */
export type RpcMessage =
  | RpcRequest
  | RpcNotification
  | { readonly type: "response"; readonly id: RequestId; readonly outcome: RpcResponse }
  /** Not a valid JSON-RPC message. `error` is the error to respond with. */
  | { readonly type: "invalid"; readonly id: RequestId; readonly error: RpcError };

export interface RpcRequest {
  readonly type: "request";
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonValue | undefined;
}

export interface RpcNotification {
  readonly type: "notification";
  readonly method: string;
  readonly params: JsonValue | undefined;
}
