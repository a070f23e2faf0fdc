import type { Failure } from "../../domain/errors.ts";
import { toApiError, type ApiError } from "../../http/routing/api-error.ts";
import { A2aError, createParamsError } from "../../wire/a2a/a2a-error.ts";

/** Converts the refusal of a command. */
export function toRefusal({ code, message, details }: Failure): A2aError {
  if (isRepeatedId({ details }))
    return createParamsError(
      "message.messageId was used for another message. Fix: choose a new id for each message",
    );
  if (code === "access_denied") return new A2aError("PERMISSION_DENIED", message);
  if (code === "not_found") return new A2aError("TASK_NOT_FOUND", message);
  if (code === "conflict") return new A2aError("UNSUPPORTED_OPERATION", message);
  return createParamsError(message);
}

/** Whether a command was refused because its id belongs to an earlier, different command. */
export function isRepeatedId({ details }: Pick<Failure, "details">): boolean {
  return details["reason"] === "other_command";
}

/** Converts any error of a handler. Undefined for a bug. */
export function toA2aError(error: unknown): A2aError | undefined {
  if (error instanceof A2aError) return error;
  const expected = toApiError(error);
  return expected === undefined ? undefined : toA2a(expected);
}

export function toA2a({ status, message, hint, reason }: ApiError): A2aError {
  const text = hint === undefined ? message : `${message}. ${hint}`;
  if (status === 401) return new A2aError("UNAUTHENTICATED", text);
  if (status === 403) return new A2aError("PERMISSION_DENIED", text);
  if (status === 404 || status === 405) return new A2aError("METHOD_NOT_FOUND", text);
  if (status === 415) return new A2aError("CONTENT_TYPE_NOT_SUPPORTED", text);
  if (reason === "invalid_json") return new A2aError("INVALID_JSON", text);
  if (status === 400 || status === 413) return new A2aError("INVALID_REQUEST", text);
  if (status === 429 || status === 503 || status === 507) return new A2aError("UNAVAILABLE", text);
  return new A2aError("INTERNAL_ERROR", text);
}
