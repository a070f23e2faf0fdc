import { SpanlineError, type Failure } from "../../../domain/errors.ts";
import { createInternalError, RPC_CODES, type RpcError } from "../../jsonrpc/rpc-error.ts";
import { ACP_CODES } from "../acp-codes.ts";
import { AUTH_METHODS } from "../auth-methods.ts";

/**
 * Encodes an error as a JSON-RPC error. An error without a Spanline code may contain internals, so its text goes to the
 * log only and the client receives "Internal error".
 */
export function encodeError(error: unknown): RpcError {
  return error instanceof SpanlineError
    ? encodeFailure(error.toFailure())
    : createInternalError("Internal error");
}

/** Encodes a failure as a JSON-RPC error. `data` carries Spanline's code and details. */
export function encodeFailure(failure: Failure): RpcError {
  const { code, message } = failure;
  const data = encodeFailureData(failure);
  const unknown = encodeAuthError(failure);
  if (unknown !== undefined) return unknown;
  if (code === "not_found") return { code: ACP_CODES.notFound, message, data };
  if (code === "conflict") return { code: ACP_CODES.conflict, message, data };
  if (code === "access_denied") return { code: ACP_CODES.accessDenied, message, data };
  if (code === "cursor_gone" || code === "cursor_ahead") {
    const reason = failure.details["reason"] ?? "ahead";
    return { code: RPC_CODES.invalidParams, message, data: { ...data, reason } };
  }
  if (code === "invalid_message" || code === "invalid_option" || code === "validation_failed") {
    return { code: RPC_CODES.invalidParams, message, data };
  }
  return createInternalError(message, data);
}

/**
 * Encodes missing or rejected credentials. The error lists `authMethods`, so the client can offer to authenticate.
 * Undefined for any other failure.
 */
export function encodeAuthError(failure: Failure): RpcError | undefined {
  const { code, message } = failure;
  if (code !== "no_credentials" && code !== "unauthorized") return undefined;
  const authMethods = AUTH_METHODS.map(({ id }) => id);
  return {
    code: ACP_CODES.authRequired,
    message,
    data: { ...encodeFailureData(failure), authMethods },
  };
}

/** The machine-readable part of a failure: Spanline's code and details. */
export function encodeFailureData({ code, message, details }: Failure): object {
  return { ...details, code, message };
}
