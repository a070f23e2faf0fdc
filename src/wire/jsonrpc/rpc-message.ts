import type { JsonValue } from "../../data/json.ts";
import type { RpcError } from "./rpc-error.ts";

/** Null is legal, and some clients use it. */
export type RequestId = string | number | null;

/** How a request ended. */
export type RpcOutcome<Result = unknown> =
  | { readonly ok: true; readonly result: Result }
  | { readonly ok: false; readonly error: RpcError };

/** How the other side answered. */
export type RpcResponse = RpcOutcome<JsonValue>;

/** What one line says. */
export type RpcMessage =
  | RpcRequest
  | RpcNotification
  | { readonly type: "response"; readonly id: RequestId; readonly outcome: RpcResponse }
  /** Nothing that JSON-RPC knows; `error` is the answer that it asks for. */
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
