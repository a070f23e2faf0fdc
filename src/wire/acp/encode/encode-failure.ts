import { SpanlineError, type Failure } from "../../../domain/errors.ts";
import { createInternalError, RPC_CODES, type RpcError } from "../../jsonrpc/rpc-error.ts";
import { ACP_CODES } from "../acp-codes.ts";
import { AUTH_METHODS } from "../auth-methods.ts";

/** An error as the response to a request. An error without a code is for the log, not for the client. */
export function encodeError(error: unknown): RpcError {
  return error instanceof SpanlineError
    ? encodeFailure(error.toFailure())
    : createInternalError("Internal error");
}

/** A failure as the answer to a request. */
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

/** Credentials are missing, or are not the right ones: the client may offer to mend that. */
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

/** What programs branch on. */
export function encodeFailureData({ code, message, details }: Failure): object {
  return { ...details, code, message };
}
