import { isObject } from "../../../data/json.ts";
import type { RequestId } from "../../jsonrpc/rpc-message.ts";

export type ClientNotification =
  | { readonly type: "cancel"; readonly sessionId: string }
  /** One request is not wanted any more, whatever it was. It is answered all the same. */
  | { readonly type: "cancel-request"; readonly requestId: RequestId };

/** Undefined for what we do not know: a notification gets no answer, not even that one. */
export function decodeNotification(
  method: string,
  params: unknown,
): ClientNotification | undefined {
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
