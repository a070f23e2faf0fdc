/** Why a request was refused, in the words of A2A. */
export type A2aReason = keyof typeof REASONS;

interface ReasonCodes {
  /** The code of the JSON-RPC error. */
  readonly rpcCode: number;
  readonly httpStatus: number;
  /** The name of the status in the HTTP+JSON binding. */
  readonly httpName: string;
}

const REASONS = {
  TASK_NOT_FOUND: { rpcCode: -32001, httpStatus: 404, httpName: "NOT_FOUND" },
  TASK_NOT_CANCELABLE: { rpcCode: -32002, httpStatus: 400, httpName: "FAILED_PRECONDITION" },
  PUSH_NOTIFICATION_NOT_SUPPORTED: {
    rpcCode: -32003,
    httpStatus: 400,
    httpName: "FAILED_PRECONDITION",
  },
  UNSUPPORTED_OPERATION: { rpcCode: -32004, httpStatus: 400, httpName: "FAILED_PRECONDITION" },
  CONTENT_TYPE_NOT_SUPPORTED: { rpcCode: -32005, httpStatus: 400, httpName: "INVALID_ARGUMENT" },
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: {
    rpcCode: -32007,
    httpStatus: 400,
    httpName: "FAILED_PRECONDITION",
  },
  VERSION_NOT_SUPPORTED: { rpcCode: -32009, httpStatus: 400, httpName: "FAILED_PRECONDITION" },
  INVALID_JSON: { rpcCode: -32700, httpStatus: 400, httpName: "INVALID_ARGUMENT" },
  INVALID_REQUEST: { rpcCode: -32600, httpStatus: 400, httpName: "INVALID_ARGUMENT" },
  METHOD_NOT_FOUND: { rpcCode: -32601, httpStatus: 404, httpName: "NOT_FOUND" },
  INVALID_PARAMS: { rpcCode: -32602, httpStatus: 400, httpName: "INVALID_ARGUMENT" },
  INTERNAL_ERROR: { rpcCode: -32603, httpStatus: 500, httpName: "INTERNAL" },
  UNAUTHENTICATED: { rpcCode: -32600, httpStatus: 401, httpName: "UNAUTHENTICATED" },
  RESOURCE_EXHAUSTED: { rpcCode: -32603, httpStatus: 429, httpName: "RESOURCE_EXHAUSTED" },
  PERMISSION_DENIED: { rpcCode: -32600, httpStatus: 403, httpName: "PERMISSION_DENIED" },
  UNAVAILABLE: { rpcCode: -32603, httpStatus: 503, httpName: "UNAVAILABLE" },
} as const satisfies { readonly [reason: string]: ReasonCodes };

/** A refused request. Each binding writes the error in its own form. */
export class A2aError extends Error {
  readonly reason: A2aReason;

  constructor(reason: A2aReason, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = "A2aError";
    this.reason = reason;
  }
}

export function readReasonCodes(reason: A2aReason): ReasonCodes {
  return REASONS[reason];
}

export function createParamsError(message: string): A2aError {
  return new A2aError("INVALID_PARAMS", message);
}

/** The error object of a JSON-RPC response. */
export function encodeRpcError({ reason, message }: A2aError): object {
  return { code: REASONS[reason].rpcCode, message, data: [encodeErrorInfo(reason)] };
}

/** The body of an error response in the HTTP+JSON binding. `code` is the status of the response. */
export function encodeHttpError({ reason, message }: A2aError, code: number): object {
  const { httpName } = REASONS[reason];
  return {
    error: { code, status: httpName, message, details: [encodeErrorInfo(reason)] },
  };
}

function encodeErrorInfo(reason: A2aReason): object {
  return {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason,
    domain: "a2a-protocol.org",
  };
}
