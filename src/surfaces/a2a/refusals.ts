import { SpanlineError, type Failure } from "../../domain/errors.ts";
import { toApiError, type ApiError } from "../../http/routing/api-error.ts";
import { A2aError, createParamsError, type A2aReason } from "../../wire/a2a/a2a-error.ts";

/** Converts the refusal of a command. */
export function toRefusal({ code, message, details }: Failure): A2aError {
  if (details["reason"] === "other_command") return createReusedIdError();
  if (code === "access_denied") return new A2aError("PERMISSION_DENIED", message);
  if (code === "not_found") return new A2aError("TASK_NOT_FOUND", message);
  if (code === "conflict") return new A2aError("UNSUPPORTED_OPERATION", message);
  return createParamsError(message);
}

export function createReusedIdError(): A2aError {
  return createParamsError(
    "message.messageId was used for another message. Fix: choose a new id for each message",
  );
}

/** Converts any error of a handler. Undefined for a bug. */
export function toA2aError(error: unknown): A2aError | undefined {
  if (error instanceof A2aError) return error;
  // The session was deleted while the request was handled.
  if (error instanceof SpanlineError && error.code === "not_found" && !("status" in error))
    return new A2aError("TASK_NOT_FOUND", error.message);
  const expected = toApiError(error);
  return expected === undefined ? undefined : convertApiError(expected);
}

/** Converts an error of the HTTP server, such as a missing key. */
export function convertApiError({ status, message, hint, reason }: ApiError): A2aError {
  const text = hint === undefined ? message : `${message}. ${hint}`;
  if (reason === "invalid_json") return new A2aError("INVALID_JSON", text);
  return new A2aError(REASONS.get(status) ?? "INTERNAL_ERROR", text);
}

const REASONS: ReadonlyMap<number, A2aReason> = new Map([
  [400, "INVALID_REQUEST"],
  [401, "UNAUTHENTICATED"],
  [403, "PERMISSION_DENIED"],
  [404, "METHOD_NOT_FOUND"],
  [405, "METHOD_NOT_FOUND"],
  [409, "UNSUPPORTED_OPERATION"],
  [413, "INVALID_REQUEST"],
  [415, "CONTENT_TYPE_NOT_SUPPORTED"],
  [429, "RESOURCE_EXHAUSTED"],
  [503, "UNAVAILABLE"],
  [507, "UNAVAILABLE"],
]);
