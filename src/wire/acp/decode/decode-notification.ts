import { isObject } from "../../../data/json.ts";
import type { RequestId } from "../../jsonrpc/rpc-message.ts";

export type ClientNotification =
  | { readonly type: "cancel"; readonly sessionId: string }
  /** Cancels a single request of any method. The request still gets a response. */
  | { readonly type: "cancel-request"; readonly requestId: RequestId }
  /** The skills of the host have changed. The method has no params. */
  | { readonly type: "skills-changed" };

/** Returns undefined for an unknown notification: JSON-RPC notifications never get a response, not even an error. */
export function decodeNotification(
  method: string,
  params: unknown,
): ClientNotification | undefined {
  if (method === "skills/update" || method === "_harn/skills/update")
    return { type: "skills-changed" };
  if (!isObject(params)) return undefined;
  const { sessionId, requestId } = params;
  if (method === "session/cancel" && typeof sessionId === "string")
    return { type: "cancel", sessionId };
  if (method === "$/cancel_request" && isRequestId(requestId))
    return { type: "cancel-request", requestId };
  return undefined;
}

function isRequestId(id: unknown): id is RequestId {
  return typeof id === "string" || typeof id === "number" || id === null;
}
