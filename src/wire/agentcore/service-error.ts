import type { ErrorResponse } from "../../domain/provider/error-response.ts";
import { isObject, parseJson } from "../../data/json.ts";
import type { Failure } from "../../domain/errors.ts";
import {
  createProviderError,
  type RequestPhase,
  type ProviderError,
  type ProviderErrorCode,
} from "../../domain/provider/provider-error.ts";
import { parseRetryAfter } from "../../domain/provider/retry-after.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/**
 * Creates the error for an HTTP error response. The status is kept even if the body is empty or the page of a proxy.
 */
export function serviceErrorFromResponse({ status, headers, body }: ErrorResponse): ProviderError {
  const parsed = parseJson(body);
  const members = parsed.ok && isObject(parsed.value) ? parsed.value : {};
  const typeName = headers["x-amzn-errortype"] ?? members["__type"] ?? members["code"];
  const type = typeof typeName === "string" ? toPlainName(typeName) : "";
  const requestId = headers["x-amzn-requestid"] ?? headers["x-amz-request-id"];
  const retryAfter = parseRetryAfter(headers);
  const message = members["message"] ?? members["Message"];
  return createServiceError({
    type,
    status,
    message: typeof message === "string" ? message : "",
    phase: "http",
    ...omitUndefined({ requestId }),
    details: {
      ...readValidationDetails(members),
      ...omitUndefined({ retryAfter }),
      ...(parsed.ok ? { payload: parsed.value } : { body: body.slice(0, MAX_QUOTED_CHARACTERS) }),
    },
  });
}

const MAX_QUOTED_CHARACTERS = 1024;

interface ServiceErrorFacts {
  /** The service's name of the error, without namespace. Empty if absent. */
  readonly type: string;
  readonly status?: number;
  readonly message: string;
  readonly phase: RequestPhase;
  readonly requestId?: string;
  readonly details?: Failure["details"];
}

/**
 * The same cause becomes the same error in all three forms: an HTTP response, the first frame, or an exception inside a
 * stream.
 */
function createServiceError(facts: ServiceErrorFacts): ProviderError {
  const { type, status, message, phase, requestId } = facts;
  const code = resolveErrorCode(type, status);
  const name = type === "" ? `HTTP ${status ?? "error"}` : type;
  const problem = code === "agent_failed" ? findKnownProblem(message) : undefined;
  return createProviderError(code, message === "" ? name : `${name}: ${message}`, {
    phase,
    ...omitUndefined({ requestId, status }),
    details: { type, ...facts.details, ...omitUndefined({ problem }) },
  });
}

/** Classifies the failure of a stream. An exception of the service becomes the same error as in an HTTP response. */
export function classifyServiceFailure(failure: Failure, requestId: string | undefined): Failure {
  const { code, message, details } = failure;
  const streamDetails = { phase: "stream", ...omitUndefined({ requestId }) } as const;
  const { type, payload } = details;
  if (code !== "stream_exception" || typeof type !== "string") {
    return { code, message, details: { ...details, ...streamDetails } };
  }
  const members = isObject(payload) ? payload : {};
  const serviceMessage = members["message"] ?? members["Message"];
  return createServiceError({
    type,
    message: typeof serviceMessage === "string" ? serviceMessage : "",
    ...streamDetails,
    details: { payload, ...readValidationDetails(members) },
  }).toFailure();
}

/** Removes the namespace and the URL written by older services: `com.amazonaws#ThrottlingException:http://…`. */
function toPlainName(type: string): string {
  return (type.split(":", 1)[0] ?? "").replace(/^.*#/, "");
}

function resolveErrorCode(type: string, status: number | undefined): ProviderErrorCode {
  const byName = CODES_BY_NAME.get(type.charAt(0).toUpperCase() + type.slice(1));
  if (byName !== undefined) return byName;
  const byStatus = status === undefined ? undefined : CODES_BY_STATUS.get(status);
  if (byStatus !== undefined) return byStatus;
  return status !== undefined && status >= 500 ? "service_failed" : "unknown_exception";
}

const CODES_BY_NAME: ReadonlyMap<string, ProviderErrorCode> = new Map<string, ProviderErrorCode>([
  ["ValidationException", "validation_failed"],
  ["UnauthorizedException", "unauthorized"],
  ["ServiceQuotaExceededException", "quota_exceeded"],
  ["AccessDeniedException", "access_denied"],
  ["InvalidSignatureException", "access_denied"],
  ["MissingAuthenticationTokenException", "access_denied"],
  ["UnrecognizedClientException", "access_denied"],
  ["ExpiredTokenException", "access_denied"],
  ["ResourceNotFoundException", "not_found"],
  ["ConflictException", "conflict"],
  ["RetryableConflictException", "conflict"],
  ["RuntimeClientError", "agent_failed"],
  ["ThrottlingException", "throttled"],
  ["InternalServerException", "service_failed"],
  ["ServiceUnavailableException", "service_failed"],
]);

const CODES_BY_STATUS: ReadonlyMap<number, ProviderErrorCode> = new Map<number, ProviderErrorCode>([
  [400, "validation_failed"],
  [401, "unauthorized"],
  [402, "quota_exceeded"],
  [403, "access_denied"],
  [404, "not_found"],
  [409, "conflict"],
  [424, "agent_failed"],
  [429, "throttled"],
]);

/** Recognizes known complaints of the model behind an agent by their wording. */
function findKnownProblem(message: string): string | undefined {
  return KNOWN_PROBLEMS.find(([words]) => message.toLowerCase().includes(words))?.[1];
}

const KNOWN_PROBLEMS: readonly (readonly [words: string, problem: string])[] = [
  ["duplicate ids", "duplicate-call-ids"],
  ["exceeds the number of tooluse blocks", "results-without-calls"],
  ["input is too long for requested model", "context-overflow"],
  ["prompt is too long", "context-overflow"],
  ["too many total text bytes", "context-overflow"],
  ["exceed context limit", "context-overflow"],
];

/** The fields refused by a validation. */
function readValidationDetails({
  reason,
  fieldList,
}: {
  readonly [name: string]: unknown;
}): Failure["details"] {
  return {
    ...(typeof reason === "string" && { reason }),
    ...(Array.isArray(fieldList) && { fields: fieldList }),
  };
}
