import { isObject, jsonText } from "../domain/json.ts";
import type { RequestId, RpcRequest } from "../wire/jsonrpc/rpc-message.ts";

/** The reason of a signal when a turn was cancelled, and what it asked with it. */
export const TURN_CANCELLED = "turn cancelled";
/** The same when the connection was lost: what was asked may be asked again on the next. */
export const CONNECTION_GONE = "connection gone";

/** What an agent asks and has no answer to yet. */
export interface OpenRequests {
  begin(request: RpcRequest): { readonly signal: AbortSignal; readonly done: () => void };
  /** The answer to this request is no longer wanted. */
  cancel(requestId: RequestId): void;
  /** Nor those to the permissions that a session waits for. */
  putAway(sessionId: string): void;
  /** Nobody is there to be answered. */
  lose(): void;
}

export function openRequests(): OpenRequests {
  const open = new Map<RpcRequest, AbortController>();
  return {
    begin(request) {
      const controller = new AbortController();
      open.set(request, controller);
      return { signal: controller.signal, done: () => void open.delete(request) };
    },
    cancel(requestId) {
      // Compared as text, so that 1 is not "1".
      for (const [{ id }, controller] of open) {
        if (jsonText(id) === jsonText(requestId)) controller.abort();
      }
    },
    putAway(sessionId) {
      for (const [{ method, params }, controller] of open) {
        const isOf = isObject(params) && params["sessionId"] === sessionId;
        if (isOf && method === "session/request_permission") controller.abort(TURN_CANCELLED);
      }
    },
    lose() {
      for (const controller of open.values()) controller.abort(CONNECTION_GONE);
    },
  };
}
