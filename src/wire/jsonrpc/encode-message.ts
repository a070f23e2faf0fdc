import { toJsonText } from "../../data/json.ts";
import { createInvalidRequest } from "./rpc-error.ts";
import type { RequestId, RpcOutcome } from "./rpc-message.ts";

/** Each of these is one whole line. What has no JSON form is named in its place, so that the line stays a message. */
export function encodeRequestLine(id: string, method: string, params: unknown): string {
  return `{"jsonrpc":"2.0","id":${toJsonText(id)},"method":${toJsonText(method)},"params":${toJsonText(params)}}\n`;
}

export function encodeNotificationLine(method: string, params: unknown): string {
  return `{"jsonrpc":"2.0","method":${toJsonText(method)},"params":${toJsonText(params)}}\n`;
}

export function encodeResponseLine(id: RequestId, outcome: RpcOutcome): string {
  const body = outcome.ok
    ? `"result":${toJsonText(outcome.result)}`
    : `"error":${toJsonText(outcome.error)}`;
  return `{"jsonrpc":"2.0","id":${toJsonText(id)},${body}}\n`;
}

/** The answer to what is no message at all, without the end of its line. */
export function encodeRefusal(reason: string): string {
  return encodeResponseLine(null, { ok: false, error: createInvalidRequest(reason) }).trimEnd();
}
