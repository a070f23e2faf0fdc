import type { ErrorAnswer } from "../../domain/error-answer.ts";
import { isObject, parseJson } from "../../domain/json.ts";
import type { Failure } from "../../domain/errors.ts";
import {
  providerError,
  type Phase,
  type ProviderError,
  type ProviderErrorCode,
} from "../../domain/provider-error.ts";
import { secondsToWait } from "../../domain/retry-after.ts";

/** The error of an HTTP answer. A body that says nothing, or is a proxy's page, does not hide the status. */
export function errorOfAnswer({ status, headers, body }: ErrorAnswer): ProviderError {
  const parsed = parseJson(body);
  const members = parsed.ok && isObject(parsed.value) ? parsed.value : {};
  const named = headers["x-amzn-errortype"] ?? members["__type"] ?? members["code"];
  const type = typeof named === "string" ? plainName(named) : "";
  const requestId = headers["x-amzn-requestid"] ?? headers["x-amz-request-id"];
  const retryAfter = secondsToWait(headers);
  const said = members["message"] ?? members["Message"];
  return serviceError({
    type,
    status,
    message: typeof said === "string" ? said : "",
    phase: "http",
    ...(requestId !== undefined && { requestId }),
    details: {
      ...fieldsOf(members),
      ...(retryAfter !== undefined && { retryAfter }),
      ...(parsed.ok ? { payload: parsed.value } : { body: body.slice(0, QUOTED_CHARACTERS) }),
    },
  });
}

const QUOTED_CHARACTERS = 1024;

interface ServiceErrorFacts {
  /** The service's name for it, without a namespace; empty when it gave none. */
  readonly type: string;
  readonly status?: number;
  readonly message: string;
  readonly phase: Phase;
  readonly requestId?: string;
  readonly details?: Failure["details"];
}

/** One error for one cause, whether it came as an answer, as the first frame or in the middle of a stream. */
function serviceError(facts: ServiceErrorFacts): ProviderError {
  const { type, status, message, phase, requestId } = facts;
  const code = codeOf(type, status);
  const name = type === "" ? `HTTP ${status ?? "error"}` : type;
  const problem = code === "agent_failed" ? knownProblem(message) : undefined;
  return providerError(code, message === "" ? name : `${name}: ${message}`, {
    phase,
    ...(requestId !== undefined && { requestId }),
    ...(status !== undefined && { status }),
    details: { type, ...facts.details, ...(problem !== undefined && { problem }) },
  });
}

/** The failure of a stream. An exception of the service is the error that it would be as an answer. */
export function failureInStream(failure: Failure, requestId: string | undefined): Failure {
  const { code, message, details } = failure;
  const known = { phase: "stream", ...(requestId !== undefined && { requestId }) } as const;
  const { type, payload } = details;
  if (code !== "stream_exception" || typeof type !== "string") {
    return { code, message, details: { ...details, ...known } };
  }
  const members = isObject(payload) ? payload : {};
  const said = members["message"] ?? members["Message"];
  return serviceError({
    type,
    message: typeof said === "string" ? said : "",
    ...known,
    details: { payload, ...fieldsOf(members) },
  }).toFailure();
}

/** `com.amazonaws#ThrottlingException:http://…` as older services write it. */
function plainName(type: string): string {
  return (type.split(":", 1)[0] ?? "").replace(/^.*#/, "");
}

function codeOf(type: string, status: number | undefined): ProviderErrorCode {
  const byName = BY_NAME.get(type.charAt(0).toUpperCase() + type.slice(1));
  if (byName !== undefined) return byName;
  const byStatus = status === undefined ? undefined : BY_STATUS.get(status);
  if (byStatus !== undefined) return byStatus;
  return status !== undefined && status >= 500 ? "service_failed" : "unknown_exception";
}

const BY_NAME: ReadonlyMap<string, ProviderErrorCode> = new Map<string, ProviderErrorCode>([
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

const BY_STATUS: ReadonlyMap<number, ProviderErrorCode> = new Map<number, ProviderErrorCode>([
  [400, "validation_failed"],
  [401, "unauthorized"],
  [402, "quota_exceeded"],
  [403, "access_denied"],
  [404, "not_found"],
  [409, "conflict"],
  [424, "agent_failed"],
  [429, "throttled"],
]);

/** What the model behind an agent complained of, in the words that were seen of it. */
function knownProblem(message: string): string | undefined {
  return PROBLEMS.find(([words]) => message.toLowerCase().includes(words))?.[1];
}

const PROBLEMS: readonly (readonly [words: string, problem: string])[] = [
  ["duplicate ids", "duplicate-call-ids"],
  ["exceeds the number of tooluse blocks", "results-without-calls"],
  ["input is too long for requested model", "context-overflow"],
  ["prompt is too long", "context-overflow"],
  ["too many total text bytes", "context-overflow"],
  ["exceed context limit", "context-overflow"],
];

/** What a validation blames, field by field. */
function fieldsOf({ reason, fieldList }: { readonly [name: string]: unknown }): Failure["details"] {
  return {
    ...(typeof reason === "string" && { reason }),
    ...(Array.isArray(fieldList) && { fields: fieldList }),
  };
}
