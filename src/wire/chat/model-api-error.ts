import type { ErrorResponse } from "../../domain/provider/error-response.ts";
import type { Failure } from "../../domain/errors.ts";
import { isObject, toJsonText, parseJson } from "../../data/json.ts";
import {
  createProviderError,
  type ProviderError,
  type ProviderErrorCode,
} from "../../domain/provider/provider-error.ts";
import { parseRetryAfter } from "../../domain/provider/retry-after.ts";
import type { Fields } from "../converse/schema.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** The error reported by a model API. */
export interface ApiError {
  /** The API's name of the error. */
  readonly name: string;
  readonly payload: unknown;
}

/**
 * Returns the error in an event, if any: `{"error": {"message", "type", "code"}}` of OpenAI, Anthropic and compatible
 * servers, a bare string in this place, vLLM's `{"object": "error"}`, or any data sent with `event: error`.
 */
export function readApiError(event: string, fields: Fields): ApiError | undefined {
  const { error } = fields;
  if (isObject(error)) return { name: readErrorName(error), payload: error };
  if (typeof error === "string" && error !== "")
    return { name: "error", payload: { message: error } };
  if (event !== "error" && fields["object"] !== "error") return undefined;
  return { name: readErrorName(fields), payload: fields };
}

function readErrorName({ type, code }: Fields): string {
  const name = [type, code].find((value) => value !== undefined && value !== null && value !== "");
  if (name === undefined) return "error";
  return typeof name === "string" ? name : toJsonText(name);
}

/**
 * Creates the error for an HTTP error response. The status is kept even if the body is empty or the page of a proxy.
 */
export function apiErrorFromResponse({ status, headers, body }: ErrorResponse): ProviderError {
  const parsed = parseJson(body);
  const members = parsed.ok && isObject(parsed.value) ? parsed.value : {};
  const error = readApiError("error", members);
  const type = error === undefined ? "error" : error.name;
  const detail = readErrorMessage(error?.payload) || toStringOrEmpty(members["detail"]);
  const requestId = headers["x-request-id"] ?? headers["request-id"];
  const name = type === "error" ? `HTTP ${status}` : `${type} (HTTP ${status})`;
  const retryAfter = parseRetryAfter(headers);
  return createProviderError(
    resolveErrorCode(type, status),
    detail === "" ? name : `${name}: ${detail}`,
    {
      phase: "http",
      status,
      ...omitUndefined({ requestId }),
      details: {
        type,
        ...omitUndefined({ retryAfter }),
        ...(headers["x-should-retry"] === "false" && { mayRetry: false }),
        ...(detail === "" && { body: body.slice(0, MAX_QUOTED_CHARACTERS) }),
      },
    },
  );
}

const MAX_QUOTED_CHARACTERS = 1024;

/** Classifies the failure of a stream like the same error in an HTTP response. */
export function classifyApiFailure(failure: Failure, requestId: string | undefined): Failure {
  const { code, message, details } = failure;
  const { type } = details;
  const streamDetails = {
    ...details,
    phase: "stream",
    ...omitUndefined({ requestId }),
  };
  const isNamed = code === "stream_exception" && typeof type === "string";
  return {
    code: isNamed ? resolveErrorCode(type, undefined) : code,
    message,
    details: streamDetails,
  };
}

function resolveErrorCode(type: string, status: number | undefined): ProviderErrorCode {
  if (QUOTA_NAMES.has(type)) return "quota_exceeded";
  // OpenAI reports a wrong key as an invalid request, so the status takes precedence over the name.
  const number = status ?? Number(type);
  const knownCode = CODES_BY_STATUS.get(number) ?? CODES_BY_NAME.get(type);
  if (knownCode !== undefined) return knownCode;
  return number >= 400 && number < 500 ? "validation_failed" : "service_failed";
}

/** These errors share a status with rate limits, but waiting does not help. */
const QUOTA_NAMES: ReadonlySet<string> = new Set(["insufficient_quota", "billing_error"]);

const CODES_BY_NAME: ReadonlyMap<string, ProviderErrorCode> = new Map<string, ProviderErrorCode>([
  ["invalid_request_error", "validation_failed"],
  ["request_too_large", "validation_failed"],
  ["authentication_error", "unauthorized"],
  ["permission_error", "access_denied"],
  ["not_found_error", "not_found"],
  ["rate_limit_error", "throttled"],
  ["rate_limit_exceeded", "throttled"],
]);

const CODES_BY_STATUS: ReadonlyMap<number, ProviderErrorCode> = new Map<number, ProviderErrorCode>([
  [401, "unauthorized"],
  [402, "quota_exceeded"],
  [403, "access_denied"],
  [404, "not_found"],
  [408, "service_failed"],
  [409, "conflict"],
  [429, "throttled"],
]);

function readErrorMessage(payload: unknown): string {
  return isObject(payload) ? toStringOrEmpty(payload["message"]) : "";
}

function toStringOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}
