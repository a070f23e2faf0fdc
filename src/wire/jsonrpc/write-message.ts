import { jsonText } from "../../domain/json.ts";
import { invalidRequest } from "./rpc-error.ts";
import type { RequestId, RpcOutcome } from "./rpc-message.ts";

/** Each of these is one whole line. What has no JSON form is named in its place, so that the line stays a message. */
export function requestLine(id: string, method: string, params: unknown): string {
  return `{"jsonrpc":"2.0","id":${jsonText(id)},"method":${jsonText(method)},"params":${jsonText(params)}}\n`;
}

export function notificationLine(method: string, params: unknown): string {
  return `{"jsonrpc":"2.0","method":${jsonText(method)},"params":${jsonText(params)}}\n`;
}

export function responseLine(id: RequestId, outcome: RpcOutcome): string {
  const said = outcome.ok
    ? `"result":${jsonText(outcome.result)}`
    : `"error":${jsonText(outcome.error)}`;
  return `{"jsonrpc":"2.0","id":${jsonText(id)},${said}}\n`;
}

/** The answer to what is no message at all, without the end of its line. */
export function refusalText(reason: string): string {
  return responseLine(null, { ok: false, error: invalidRequest(reason) }).trimEnd();
}
