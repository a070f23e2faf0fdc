import { toDiskFullError, SpanlineError, type ErrorCode } from "../../domain/errors.ts";
import type { ServedResponse } from "../server/http-types.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

export interface ApiErrorOptions {
  /** How the caller can fix the request. */
  readonly hint?: string;
  readonly headers?: { readonly [name: string]: string };
  /** The invalid field of the request. Only sent in error formats with such a field. */
  readonly param?: string;
  /** A more specific code than `code`, in the vocabulary of the surface: `invalid_api_key`. */
  readonly reason?: string;
  readonly cause?: unknown;
}

/** An error with its HTTP status, thrown to reject a request. */
export class ApiError extends SpanlineError {
  readonly status: number;
  readonly hint: string | undefined;
  readonly headers: { readonly [name: string]: string };
  readonly param: string | undefined;
  readonly reason: string | undefined;

  constructor(status: number, code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(code, message, { cause: options.cause });
    this.status = status;
    this.hint = options.hint;
    this.headers = options.headers ?? {};
    this.param = options.param;
    this.reason = options.reason;
  }
}

/** Formats the errors of a group of routes. */
export type ErrorFormatter = (error: ApiError) => ServedResponse;

/**
 * Converts an error to its HTTP form; undefined for a bug. Decoders put the field and the surface's own code into the
 * error's `details` (`param`, `code`).
 */
export function toApiError(thrown: unknown): ApiError | undefined {
  if (thrown instanceof ApiError) return thrown;
  if (!(thrown instanceof SpanlineError)) return toSystemLimitError(thrown);
  const status = resolveStatus(thrown.code);
  if (status === undefined) return undefined;
  const { param, code: reason } = thrown.details;
  const headers = RETRY_HEADERS[thrown.code];
  return new ApiError(status, thrown.code, thrown.message, {
    ...(typeof param === "string" && { param }),
    ...(typeof reason === "string" && { reason }),
    ...omitUndefined({ headers }),
    cause: thrown,
  });
}

/** Maps a system error about an exhausted resource (disk, file descriptors); undefined for any other error. */
function toSystemLimitError(thrown: unknown): ApiError | undefined {
  if (!(thrown instanceof Error) || !("code" in thrown)) return undefined;
  const diskFull = toDiskFullError(thrown);
  if (diskFull !== undefined) return toApiError(diskFull);
  if (thrown.code !== "EMFILE" && thrown.code !== "ENFILE") return undefined;
  const message = "The bridge has reached the system's limit of open files and connections";
  return toApiError(new SpanlineError("overloaded", message, { cause: thrown }));
}

/** The response to a bug or an unexpected failure. Clients must not retry: the work may be partly done. */
export function createBridgeFailedError(): ApiError {
  return new ApiError(500, "service_failed", "The bridge failed; its log says why", {
    headers: { "x-should-retry": "false" },
  });
}

export function resolveStatus(code: ErrorCode): number | undefined {
  return STATUS_BY_CODE[code];
}

const RETRY_LATER = { "retry-after": "5", "x-should-retry": "true" };
const NEVER_RETRY = { "x-should-retry": "false" };

/** Tells clients whether a retry can help. For codes without an entry, clients decide by the status. */
const RETRY_HEADERS: { readonly [Code in ErrorCode]?: ApiErrorOptions["headers"] } = {
  store_failed: RETRY_LATER,
  store_full: RETRY_LATER,
  overloaded: RETRY_LATER,
  store_damaged: NEVER_RETRY,
  store_newer: NEVER_RETRY,
};

const STATUS_BY_CODE: { readonly [Code in ErrorCode]?: number } = {
  not_found: 404,
  invalid_option: 400,
  invalid_message: 400,
  validation_failed: 400,
  unauthorized: 401,
  access_denied: 403,
  conflict: 409,
  cursor_gone: 410,
  cursor_ahead: 410,
  lease_held: 503,
  stale_lease: 503,
  store_closed: 503,
  store_failed: 503,
  store_full: 507,
  store_damaged: 500,
  store_newer: 501,
  overloaded: 503,
  throttled: 429,
  quota_exceeded: 429,
  connect_failed: 502,
  connection_lost: 502,
  first_event_timeout: 504,
  idle_timeout: 504,
  deadline_exceeded: 504,
};
