import { SpanlineError } from "../domain/errors.ts";
import { isTransientFailure } from "../remote/retry-policy.ts";

/**
 * Whether a failure of the control plane is transient. Includes internal errors, and conflicts marked as retryable by
 * the service.
 */
export function isTransient(error: unknown): boolean {
  if (isTransientFailure(error)) return true;
  if (!(error instanceof SpanlineError)) return false;
  return error.code === "service_failed" || error.details["type"] === "RetryableConflictException";
}

export function isNotFound(error: unknown): boolean {
  return error instanceof SpanlineError && error.code === "not_found";
}

export function isConflict(error: unknown): boolean {
  return error instanceof SpanlineError && error.code === "conflict";
}
