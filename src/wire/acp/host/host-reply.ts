import type { Failure } from "../../../domain/errors.ts";
import { isObject, type JsonValue } from "../../../data/json.ts";
import { RPC_CODES, type RpcError } from "../../jsonrpc/rpc-error.ts";
import type { RpcResponse } from "../../jsonrpc/rpc-message.ts";
import type { ReadResult } from "./read-result.ts";

/** What came of something that a host was asked. */
export type HostReply<Value> =
  | { readonly type: "answered"; readonly value: Value }
  /** The host does not do this: what we have ourselves stands in for it. */
  | { readonly type: "unsupported" }
  | { readonly type: "failed"; readonly failure: Failure };

/** A host that does not know a method says so, or answers nothing. */
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
  const message = `The host's answer to ${operation} cannot be read: ${reading.problem}`;
  const details = { operation };
  return { type: "failed", failure: { code: "unexpected_answer", message, details } };
}

export function createFailedReply(operation: string, error: RpcError): HostReply<never> {
  const replyText = formatRpcError(error).slice(0, MAX_SHOWN_CHARACTERS) || "it does not say why";
  const message = `${operation} failed on the host: ${replyText}`;
  const details = { operation, hostCode: error.code };
  const code = isUnknownOutcome(error) ? "outcome_unknown" : "host_failed";
  return { type: "failed", failure: { code, message, details } };
}

/** It was asked again for something, and cannot say what came of it. */
function isUnknownOutcome({ data }: RpcError): boolean {
  return isObject(data) && data["code"] === "outcome_unknown";
}

/** The official clients say "Internal error", and what it was beside it. */
function formatRpcError({ message, data }: RpcError): string {
  const details = isObject(data) ? data["details"] : undefined;
  return typeof details === "string" && details !== "" ? `${message}: ${details}` : message;
}

/** Characters of the host's own words, which go to the model. */
const MAX_SHOWN_CHARACTERS = 4000;
