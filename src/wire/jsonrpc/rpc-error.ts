import type { ErrorCode } from "../../domain/errors.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** An error object of JSON-RPC. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The error codes of JSON-RPC 2.0, section 5.1. */
export const RPC_CODES = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
} as const;

/**
 * Creates a parse error. `code` becomes `data.code`, on which programs branch: the numbers of JSON-RPC do not
 * distinguish these cases.
 */
export function createParseError(reason: string, code: ErrorCode = "invalid_message"): RpcError {
  return { code: RPC_CODES.parse, message: `Parse error: ${reason}`, data: { code } };
}

export function createInvalidRequest(
  reason: string,
  code: ErrorCode = "invalid_message",
): RpcError {
  return { code: RPC_CODES.invalidRequest, message: `Invalid request: ${reason}`, data: { code } };
}

export function createMethodNotFound(method: string): RpcError {
  const shortMethod =
    method.length > MAX_SHOWN_CHARACTERS ? `${method.slice(0, MAX_SHOWN_CHARACTERS)}…` : method;
  return { code: RPC_CODES.methodNotFound, message: `Method not found: ${shortMethod}` };
}

export function createInvalidParams(reason: string): RpcError {
  const data = { code: "validation_failed" satisfies ErrorCode };
  return { code: RPC_CODES.invalidParams, message: `Invalid params: ${reason}`, data };
}

export function createInternalError(reason: string, data?: unknown): RpcError {
  return { code: RPC_CODES.internal, message: reason, ...omitUndefined({ data }) };
}

const MAX_SHOWN_CHARACTERS = 100;
