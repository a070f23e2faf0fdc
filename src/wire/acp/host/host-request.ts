import type { JsonObject } from "../../../data/json.ts";

/** Something that we ask of a host. */
export interface HostRequest {
  readonly method: string;
  readonly params: JsonObject;
}

/** The name that is sent; hosts that know only the other say so, and can be asked again by it. */
export type HostCallMethod = "host/call" | "host_call";

/** An operation of a host's machine, which has a name of its own. */
export function encodeHostCallRequest(
  name: string,
  args: JsonObject,
  method: HostCallMethod = "host/call",
): HostRequest {
  return { method, params: { name, args } };
}

/** Sent without parameters: the list is of the host, not of a session. */
export function encodeToolListRequest(): HostRequest {
  return { method: "host/tools/list", params: {} };
}

/** Under the same call it is the same call: a host that has done it says again what came of it. */
export function encodeToolCallRequest(
  name: string,
  input: JsonObject,
  call?: HostToolCall,
): HostRequest {
  const meta = call === undefined ? {} : { _meta: { harn: { ...call } } };
  return { method: "builtin_call", params: { name, args: [input], ...meta } };
}

export interface HostToolCall {
  /** Of the session that it is for, where that is said. */
  readonly sessionId?: string;
  readonly toolCallId: string;
  /** Where the host may have been asked before, and is to say what came of it: which attempt this is. */
  readonly attempt?: number;
}
