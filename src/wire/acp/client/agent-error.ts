import { ERROR_CODES, SpanlineError, type ErrorCode } from "../../../domain/errors.ts";
import { isObject } from "../../../data/json.ts";
import { RPC_CODES, type RpcError } from "../../jsonrpc/rpc-error.ts";
import { ACP_CODES } from "../acp-codes.ts";
import { omitUndefined } from "../../../data/omit-undefined.ts";

/** ACP's error code for a cancelled request. */
const REQUEST_CANCELLED = -32800;

export const REQUEST_CANCELLED_ERROR: RpcError = {
  code: REQUEST_CANCELLED,
  message: "The request was cancelled",
};

/**
 * Converts an agent's error response to a SpanlineError. A bridge sends its own code in `data.code`; for any other
 * agent the JSON-RPC code is mapped.
 */
export function toAgentError(method: string, error: RpcError): SpanlineError {
  const { code, message, data } = error;
  const bridgeCode = isObject(data) ? data["code"] : undefined;
  const knownCode = ERROR_CODES.find((errorCode) => errorCode === bridgeCode);
  const shortMessage = message.slice(0, MAX_MESSAGE_CHARACTERS) || "no reason given";
  return new SpanlineError(
    knownCode ?? ERROR_CODES_BY_NUMBER.get(code) ?? "agent_failed",
    shortMessage,
    {
      details: { method, rpcCode: code, ...omitUndefined({ data, reason: readReason(data) }) },
    },
  );
}

/** Reads the machine-readable reason of a bridge's refusal. */
function readReason(data: RpcError["data"]): string | undefined {
  const reason = isObject(data) ? data["reason"] : undefined;
  return typeof reason === "string" ? reason : undefined;
}

const ERROR_CODES_BY_NUMBER: ReadonlyMap<number, ErrorCode> = new Map<number, ErrorCode>([
  [RPC_CODES.invalidParams, "validation_failed"],
  [ACP_CODES.authRequired, "unauthorized"],
  [ACP_CODES.notFound, "not_found"],
  [ACP_CODES.conflict, "conflict"],
  [ACP_CODES.accessDenied, "access_denied"],
  [REQUEST_CANCELLED, "aborted"],
]);

const MAX_MESSAGE_CHARACTERS = 4000;
