import type { Failure } from "../../../domain/errors.ts";
import { isObject, type JsonValue } from "../../../data/json.ts";
import { RPC_CODES, type RpcError } from "../../jsonrpc/rpc-error.ts";
import type { RpcResponse } from "../../jsonrpc/rpc-message.ts";
import type { ReadResult } from "./read-result.ts";

/** The outcome of a request to a host. */
export type HostReply<Value> =
  | { readonly type: "answered"; readonly value: Value }
  /** The host does not support the operation; the caller uses Spanline's own implementation. */
  | { readonly type: "unsupported" }
  | { readonly type: "failed"; readonly failure: Failure };

/** Reads a host's reply. A host without support for the method returns "method not found" or null. */
export function readHostReply<Value>(
  operation: string,
  answer: RpcResponse,
  read: (result: JsonValue) => ReadResult<Value>,
): HostReply<Value> {
  if (!answer.ok) {
    if (answer.error.code === RPC_CODES.methodNotFound) return { type: "unsupported" };
    return createFailedReply(operation, answer.error);
  }
  if (answer.result === null) return { type: "unsupported" };
  const reading = read(answer.result);
  if (reading.ok) return { type: "answered", value: reading.value };
  const message = `The host's reply to ${operation} cannot be read: ${reading.problem}`;
  const details = { operation };
  return { type: "failed", failure: { code: "unexpected_answer", message, details } };
}

export function createFailedReply(operation: string, error: RpcError): HostReply<never> {
  const replyText = formatRpcError(error).slice(0, MAX_SHOWN_CHARACTERS) || "no reason given";
  const message = `${operation} failed on the host: ${replyText}`;
  const details = { operation, hostCode: error.code };
  const code = isUnknownOutcome(error) ? "outcome_unknown" : "host_failed";
  return { type: "failed", failure: { code, message, details } };
}

/** Returns true if the host received the request before and does not know its outcome. */
function isUnknownOutcome({ data }: RpcError): boolean {
  return isObject(data) && data["code"] === "outcome_unknown";
}

/**
 * Formats an error. The official ACP clients send the message "Internal error" and put the cause into `data.details`.
 */
function formatRpcError({ message, data }: RpcError): string {
  const details = isObject(data) ? data["details"] : undefined;
  return typeof details === "string" && details !== "" ? `${message}: ${details}` : message;
}

/** Limit for the host's text in characters, because the text is sent to the model. */
const MAX_SHOWN_CHARACTERS = 4000;
