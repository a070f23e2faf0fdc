import type { JsonObject } from "../../../data/json.ts";

/** A JSON-RPC request to a bridge host, without its id. */
export interface HostRequest {
  readonly method: string;
  readonly params: JsonObject;
}

/** The method name of a host operation. Some hosts know only one name and return "method not found" for the other. */
export type HostCallMethod = "host/call" | "host_call";

/** Encodes an operation on the host's machine, by name. */
export function encodeHostCallRequest(
  name: string,
  args: JsonObject,
  method: HostCallMethod = "host/call",
): HostRequest {
  return { method, params: { name, args } };
}

/** Encodes a request for the host's tools. It has no params, because the tools belong to the host, not to a session. */
export function encodeToolListRequest(): HostRequest {
  return { method: "host/tools/list", params: {} };
}

/**
 * Encodes a tool call. A repeated request has the same `toolCallId`: a host with a record of the tool call returns the
 * stored result.
 */
export function encodeToolCallRequest(
  name: string,
  input: JsonObject,
  call?: HostToolCall,
): HostRequest {
  const meta = call === undefined ? {} : { _meta: { harn: { ...call } } };
  return { method: "builtin_call", params: { name, args: [input], ...meta } };
}

export interface HostToolCall {
  /** The session of the tool call. Absent outside a session. */
  readonly sessionId?: string;
  readonly toolCallId: string;
  /**
   * The number of this attempt. Present only if the host may have received the tool call before and must return its
   * outcome.
   */
  readonly attempt?: number;
}
