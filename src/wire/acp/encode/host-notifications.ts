import { isObject } from "../../../data/json.ts";
import { encodeNotificationLine } from "../../jsonrpc/rpc-line.ts";
import type { RpcError } from "../../jsonrpc/rpc-error.ts";
import type { RpcRequest } from "../../jsonrpc/rpc-message.ts";

/**
 * Encodes `agent/idle`. In the bridge protocol the notification names no session. `sessionId` is set for a connection
 * with several sessions, whose host could not tell them apart.
 */
export function encodeIdle(
  { iteration, backoffMs }: { readonly iteration: number; readonly backoffMs: number },
  sessionId: string | undefined,
): { readonly method: string; readonly params: object } {
  const session = sessionId === undefined ? {} : { sessionId };
  return { method: "agent/idle", params: { ...session, iteration, backoff_ms: backoffMs } };
}

/** Encodes the stop of an idle daemon by its watchdog, as an agent event. */
export function encodeWatchdogStop(
  { attempts, elapsedMs }: { readonly attempts: number; readonly elapsedMs: number },
  sessionId: string,
): { readonly method: string; readonly params: object } {
  const params = { sessionId, kind: "daemon_watchdog_tripped", attempts, elapsedMs };
  return { method: "_harn/agentEvent", params };
}

/** Encodes the failure of a notification, which has no response, as an agent event. */
export function encodeNotificationFailure(
  { method, params }: Pick<RpcRequest, "method" | "params">,
  error: RpcError,
): string {
  const sessionId = isObject(params) ? params["sessionId"] : undefined;
  const session = typeof sessionId === "string" ? { sessionId } : {};
  return encodeNotificationLine("_harn/agentEvent", {
    ...session,
    kind: "notification_failed",
    method,
    error,
  });
}
