import { isObject, toJsonText } from "../../data/json.ts";
import type { RequestId, RpcRequest } from "../../wire/jsonrpc/rpc-message.ts";

/** The reason of a signal when a turn was cancelled, and what it asked with it. */
export const TURN_CANCELLED = "turn cancelled";
/** The same when the connection was lost: what was asked may be asked again on the next. */
export const CONNECTION_GONE = "connection gone";

/** What an agent asks and has no answer to yet. */
export interface OpenRequests {
  add(request: RpcRequest): { readonly signal: AbortSignal; readonly done: () => void };
  /** The answer to this request is no longer wanted. */
  cancel(requestId: RequestId): void;
  /** Nor those to the permissions that a session waits for. */
  cancelPermissions(sessionId: string): void;
  /** Nobody is there to be answered. */
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
      // Compared as text, so that 1 is not "1".
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
