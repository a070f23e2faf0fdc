import { isObject, toJsonText } from "../../data/json.ts";
import type { RequestId, RpcRequest } from "../../wire/jsonrpc/rpc-message.ts";

/** Abort reason of a signal when the turn was cancelled, and its open requests with it. */
export const TURN_CANCELLED = "turn cancelled";
/**
 * Abort reason of a signal when the connection was lost. The agent may send the request again on the next connection.
 */
export const CONNECTION_GONE = "connection gone";

/** The agent's requests without a response. */
export interface OpenRequests {
  add(request: RpcRequest): { readonly signal: AbortSignal; readonly done: () => void };
  /** Aborts the request with this id. */
  cancel(requestId: RequestId): void;
  /** Aborts the permission requests of a session, with the reason `TURN_CANCELLED`. */
  cancelPermissions(sessionId: string): void;
  /** Aborts all requests, because the connection is lost. */
  abortAll(): void;
}

export function createOpenRequests(): OpenRequests {
  const open = new Map<RpcRequest, AbortController>();
  return {
    add(request) {
      const controller = new AbortController();
      open.set(request, controller);
      return { signal: controller.signal, done: () => void open.delete(request) };
    },
    cancel(requestId) {
      // Compared as JSON, because the ids 1 and "1" are different.
      for (const [{ id }, controller] of open) {
        if (toJsonText(id) === toJsonText(requestId)) controller.abort();
      }
    },
    cancelPermissions(sessionId) {
      for (const [{ method, params }, controller] of open) {
        const isOfSession = isObject(params) && params["sessionId"] === sessionId;
        if (isOfSession && method === "session/request_permission")
          controller.abort(TURN_CANCELLED);
      }
    },
    abortAll() {
      for (const controller of open.values()) controller.abort(CONNECTION_GONE);
    },
  };
}
