import { SpanlineError, type ErrorCode, type Failure } from "../../domain/errors.ts";
import type { ServedAnswer } from "../../http/served.ts";
import { jsonAnswer } from "./json-answer.ts";

export interface ApiErrorOptions {
  /** What the caller can do about it. */
  readonly hint?: string;
  readonly headers?: { readonly [name: string]: string };
}

/** A request that gets an error for its answer, and the status of that answer. */
export class ApiError extends SpanlineError {
  readonly status: number;
  readonly hint: string | undefined;
  readonly headers: { readonly [name: string]: string };

  constructor(status: number, code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(code, message);
    this.status = status;
    this.hint = options.hint;
    this.headers = options.headers ?? {};
  }
}

/** The one form that an error has on this surface. */
export interface ErrorBody {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly hint?: string;
    readonly details?: Failure["details"];
  };
}

export function errorAnswer(error: ApiError): ServedAnswer {
  const { status, code, message, hint, headers } = error;
  const body: ErrorBody = { error: { code, message, ...(hint !== undefined && { hint }) } };
  return jsonAnswer(status, body, headers);
}

export function failureBody({ code, message, details }: Failure): ErrorBody {
  return { error: { code, message, details } };
}

/** Undefined for what is a bug. */
export function apiErrorOf(thrown: unknown): ApiError | undefined {
  if (thrown instanceof ApiError) return thrown;
  if (!(thrown instanceof SpanlineError)) return undefined;
  const status = STATUSES[thrown.code];
  if (status === undefined) return undefined;
  return new ApiError(
    status,
    thrown.code,
    thrown.message,
    status === 410 ? { hint: CURSOR_HINT } : {},
  );
}

const STATUSES: { readonly [Code in ErrorCode]?: number } = {
  not_found: 404,
  invalid_option: 400,
  invalid_message: 400,
  validation_failed: 400,
  access_denied: 403,
  conflict: 409,
  cursor_gone: 410,
  cursor_ahead: 410,
  lease_held: 503,
  stale_lease: 503,
  store_closed: 503,
};

const CURSOR_HINT = "Forget what was read, and read from the beginning: without a cursor";
