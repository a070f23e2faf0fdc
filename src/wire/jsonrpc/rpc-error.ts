/** An error as JSON-RPC carries it. */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** The codes of JSON-RPC 2.0, section 5.1. */
export const RPC_CODES = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
} as const;

export function parseError(reason: string): RpcError {
  return { code: RPC_CODES.parse, message: `Parse error: ${reason}` };
}

export function invalidRequest(reason: string): RpcError {
  return { code: RPC_CODES.invalidRequest, message: `Invalid request: ${reason}` };
}

export function methodNotFound(method: string): RpcError {
  const shown = method.length > MAX_SHOWN ? `${method.slice(0, MAX_SHOWN)}…` : method;
  return { code: RPC_CODES.methodNotFound, message: `Method not found: ${shown}` };
}

export function invalidParams(reason: string): RpcError {
  return { code: RPC_CODES.invalidParams, message: `Invalid params: ${reason}` };
}

export function internalError(reason: string, data?: unknown): RpcError {
  return { code: RPC_CODES.internal, message: reason, ...(data !== undefined && { data }) };
}

const MAX_SHOWN = 100;
