import type { ApiError, ErrorFormatter } from "./api-error.ts";
import { createJsonResponse } from "./json-response.ts";

/** Formats errors in OpenAI's JSON form. */
export const formatOpenAiError: ErrorFormatter = (error) =>
  createJsonResponse(error.status, { error: encodeOpenAiError(error) }, error.headers);

export function encodeOpenAiError({ status, code, message, hint, param, reason }: ApiError) {
  return {
    message: hint === undefined ? message : `${message}. ${hint}`,
    type: resolveErrorType(status),
    param: param ?? null,
    code: reason ?? code,
  };
}

function resolveErrorType(status: number): string {
  if (status === 404) return "not_found";
  if (status === 429) return "too_many_requests";
  return status >= 500 ? "server_error" : "invalid_request_error";
}
